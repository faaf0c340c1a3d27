import { open } from 'node:fs/promises';
import type { Strategy } from '../../data/models/strategy.ts';
import type { Optimization } from '../../onnx/engine/optimize/optimization.ts';
import { inspectModel } from '../../onnx/model/inspect/inspect-model.ts';
import { matchShapes, parseShapes } from '../../onnx/model/inspect/match-shapes.ts';
import type { ModelSummary } from '../../onnx/model/inspect/model-summary.ts';
import { requireShapes } from '../../onnx-models/completeness.ts';

/**
 * Dimensions of the model's inputs by name, as the strategy's request has them or else as they are stored with the
 * model, and the requested ones of its outputs; undefined where there are none.
 * @throws ModelError naming both shapes where they are not the model's
 */
export async function requestedShapes(
  { inputs, outputs, stored_shapes }: Strategy,
  file: string,
): Promise<Pick<Optimization, 'shapes' | 'areShapesStored' | 'outputShapes'>> {
  const summary = await summaryOf(file);
  requireShapes({ inputs, outputs }, summary);
  return {
    shapes: shapesOf(inputs ?? stored_shapes.inputs, summary.inputs),
    areShapesStored: inputs === null,
    outputShapes: shapesOf(outputs, summary.outputs),
  };
}

/** Summary of a model's file. @throws ModelError where it is none */
async function summaryOf(file: string): Promise<ModelSummary> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    return await inspectModel({
      size,
      async read(offset, length) {
        const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, offset);
        return buffer.subarray(0, bytesRead);
      },
    });
  } finally {
    await handle.close();
  }
}

type Shapes = ReadonlyMap<string, readonly (number | null)[]>;

function shapesOf(text: string | null, tensors: ModelSummary['inputs']): Shapes | undefined {
  if (text === null) return undefined;
  const matched = matchShapes(parseShapes(text), tensors);
  return matched.ok ? new Map(matched.shapes.map(({ name, dims }) => [name, dims])) : undefined;
}
