import { InferenceSession, Tensor } from 'onnxruntime-node';
import type { Model } from '../../../shared/onnx/model/file/model.ts';
import { seededRandom } from '../seeded-random.ts';
import { seededFloats } from './seeded.ts';
import { savedBytes } from './small-model.ts';

export interface Floats {
  dims: readonly number[];
  data: Float32Array;
}

/** Seeded values for one float input. */
export function sampleOf(name: string, dims: readonly number[], seed: number): Record<string, Floats> {
  const count = dims.reduce((product, dim) => product * dim, 1);
  return { [name]: { dims, data: seededFloats(seededRandom(seed), count, 2) } };
}

/** Runs a model as its users do, with every optimization: quantized operators are fused. Gives the first output. */
export async function runOptimized(
  model: Model,
  samples: readonly Record<string, Floats>[],
): Promise<Float32Array> {
  const session = await InferenceSession.create(savedBytes(model), {
    intraOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  try {
    const results: number[] = [];
    for (const sample of samples) {
      const feeds = Object.entries(sample).map(
        ([name, { dims, data }]) => [name, new Tensor('float32', data, dims)] as const,
      );
      const result = await session.run(Object.fromEntries(feeds));
      const [output] = Object.values(result);
      results.push(...((output?.data ?? []) as Float32Array));
    }
    return Float32Array.from(results);
  } finally {
    await session.release();
  }
}
