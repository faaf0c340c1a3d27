import type { Model } from '../../model/file/model.ts';
import { foldViews } from '../fuse/fold-views.ts';
import { foldMoved } from '../quantize/fold-weights.ts';

/**
 * Turn weights into constants where nodes only move the values of constants. A constant that a table and its transpose
 * share stays once in the file.
 */
export function preparePruning(model: Model, exclude: readonly string[]): void {
  foldViews(model);
  foldMoved(model.graph, exclude);
}
