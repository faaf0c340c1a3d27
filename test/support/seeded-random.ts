import { Random } from '../../shared/onnx/measure/session/random.ts';

/** A generator of numbers in [0, 1) that a seed decides. */
export function seededRandom(seed: number): () => number {
  const random = new Random(seed);
  return () => random.uniform();
}
