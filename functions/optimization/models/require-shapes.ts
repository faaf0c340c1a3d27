import { badRequest } from '../../../shared/core/service-error.ts';
import type { ModelSummary } from '../../../shared/onnx/model/inspect/model-summary.ts';
import { type StoredShapes, shapeFaults } from '../../../shared/onnx-models/completeness.ts';

/**
 * Throw a 400 problem for shapes that differ from the inspected model. The job checks whether a data set matches
 * them, because it reads the data.
 */
export function requireShapesOf(
  summary: Pick<ModelSummary, 'inputs' | 'outputs'>,
  asked: StoredShapes,
): void {
  const faults = shapeFaults(asked, summary);
  if (faults.length === 0) return;
  throw badRequest(faults.map(({ side, fault }) => ({ in: 'query', name: side, message: fault })));
}
