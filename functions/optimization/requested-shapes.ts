import type { ReadyModel } from '../../shared/data/model.ts';
import { badRequest, type ParameterFault } from '../../shared/endpoint/problem.ts';
import { ModelFault } from '../../shared/onnx/model-fault.ts';
import { parseShapes } from '../../shared/onnx/shapes/parse-shapes.ts';

/** Why a text cannot be the shapes of so many tensors, whatever these are; undefined where it can. */
function faultOf(text: string, tensors: number): string | undefined {
  try {
    const groups = parseShapes(text);
    const areBare = groups.length > 0 && groups.every(({ bare }) => bare);
    // Numbers alone are one shape of one tensor.
    if (groups.length === tensors || (areBare && tensors === 1)) return undefined;
    return `has ${groups.length} ${groups.length === 1 ? 'shape' : 'shapes'} where the model has ${tensors} tensors`;
  } catch (error) {
    if (error instanceof ModelFault) return error.message;
    throw error;
  }
}

/**
 * Throws a 400 problem for texts that are no shapes, or not as many as the model has inputs and outputs. Whether they
 * are those of the model is for the job, which fails naming both.
 */
export function requireShapesOf(
  { summary }: Pick<ReadyModel, 'summary'>,
  asked: { inputs: string | null; outputs: string | null },
): void {
  const faults = (['inputs', 'outputs'] as const).flatMap((name): ParameterFault[] => {
    const text = asked[name];
    const message = text === null ? undefined : faultOf(text, summary[name].length);
    return message === undefined ? [] : [{ in: 'query', name, message }];
  });
  if (faults.length > 0) throw badRequest(faults);
}
