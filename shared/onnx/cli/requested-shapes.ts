import { open } from 'node:fs/promises';
import { inspectModel } from '../inspect/inspect-model.ts';
import { ModelFault } from '../model-fault.ts';
import { matchShapes } from '../shapes/match-shapes.ts';
import { parseShapes } from '../shapes/parse-shapes.ts';

/** The shapes that a text gives to a model's inputs, by name. Throws a `ModelFault` that names both where they differ. */
export async function requestedShapes(
  text: string,
  model: string,
): Promise<ReadonlyMap<string, readonly (number | null)[]>> {
  const file = await open(model);
  try {
    const { size } = await file.stat();
    const { inputs } = await inspectModel({
      size,
      async read(offset, length) {
        const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, offset);
        return buffer.subarray(0, bytesRead);
      },
    });
    const matched = matchShapes(parseShapes(text), inputs);
    if (!matched.ok) throw new ModelFault(`inputs: ${matched.fault}.`);
    return new Map(matched.shapes.map(({ name, dims }) => [name, dims]));
  } finally {
    await file.close();
  }
}
