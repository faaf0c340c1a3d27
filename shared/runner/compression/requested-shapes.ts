import { open } from 'node:fs/promises';
import type { Compression } from '../../data/models/compression.ts';
import type { Optimization } from '../../onnx/engine/optimize/optimization.ts';
import { inspectModel } from '../../onnx/model/inspect/inspect-model.ts';
import { matchShapes, parseShapes } from '../../onnx/model/inspect/match-shapes.ts';
import type { ModelSummary } from '../../onnx/model/inspect/model-summary.ts';
import { requireShapes } from '../../onnx-models/completeness.ts';

/**
 * Return the dimensions of the model's inputs by name, from the compression's request or else from the model's stored
 * shapes, and the requested ones of its outputs; undefined if there are none.
 * @throws ModelError naming both shapes if they do not match the model's
 */
export async function requestedShapes(
  { inputs, outputs, stored_shapes }: Compression,
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

/** Summarize a model file. @throws ModelError if it is not a model */
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
