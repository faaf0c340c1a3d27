import type { ReadyModel } from '../../shared/data/model.ts';
import { badRequest, type ParameterFault } from '../../shared/endpoint/problem.ts';
import type { TensorSummary } from '../../shared/onnx/inspect/model-summary.ts';
import { ModelFault } from '../../shared/onnx/model-fault.ts';
import { matchShapes } from '../../shared/onnx/shapes/match-shapes.ts';
import { parseShapes } from '../../shared/onnx/shapes/parse-shapes.ts';

/** Why a text cannot be the shapes of these tensors, in words that name both; undefined where it can. */
function faultOf(text: string, tensors: readonly TensorSummary[]): string | undefined {
  try {
    const matched = matchShapes(parseShapes(text), tensors);
    return matched.ok ? undefined : matched.fault;
  } catch (error) {
    if (error instanceof ModelFault) return error.message;
    throw error;
  }
}

/**
 * Throws a 400 problem for texts that are no shapes, or not those of the model, as it was inspected when it was stored.
 * Whether a data set agrees with them is for the job, which reads it.
 */
export function requireShapesOf(
  { summary }: Pick<ReadyModel, 'summary'>,
  asked: { inputs: string | null; outputs: string | null },
): void {
  const faults = (['inputs', 'outputs'] as const).flatMap((name): ParameterFault[] => {
    const text = asked[name];
    const message = text === null ? undefined : faultOf(text, summary[name]);
    return message === undefined ? [] : [{ in: 'query', name, message }];
  });
  if (faults.length > 0) throw badRequest(faults);
}
