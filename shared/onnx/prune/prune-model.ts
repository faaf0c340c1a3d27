import type { PruneRequest } from '../methods/prune-methods.ts';
import type { Model } from '../model/model.ts';
import type { TransformReport } from '../transform/report.ts';
import { pruneMagnitude } from './magnitude.ts';
import { pruneNofM } from './n-of-m.ts';
import { pruneStructured } from './structured/prune-structured.ts';

/**
 * Prunes a loaded model in place, by the strategy of the request, and writes down what was done.
 *
 * @throws ModelFault where the model has nothing to prune, or the compression is out of reach
 */
export function pruneModel(model: Model, request: PruneRequest, report: TransformReport): void {
  switch (request.strategy) {
    case 'magnitude_global':
    case 'magnitude_local':
      pruneMagnitude(model, request, report);
      return;
    case 'n_m_2_4':
      pruneNofM(model, request, report);
      return;
    default:
      pruneStructured(model, request, report);
  }
}
