import { badRequest } from '../../../shared/core/service-error.ts';
import type { ModelSummary } from '../../../shared/onnx/model/inspect/model-summary.ts';
import { type StoredShapes, shapeFaults } from '../../../shared/onnx-models/completeness.ts';

/**
 * Throws a 400 problem for shapes that are not those of the model as it was inspected. Whether a data set agrees with
 * them is for the job, which reads it.
 */
export function requireShapesOf(
  summary: Pick<ModelSummary, 'inputs' | 'outputs'>,
  asked: StoredShapes,
): void {
  const faults = shapeFaults(asked, summary);
  if (faults.length === 0) return;
  throw badRequest(faults.map(({ side, fault }) => ({ in: 'query', name: side, message: fault })));
}
