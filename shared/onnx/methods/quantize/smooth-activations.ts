import type { Graph, Names } from '../../model/graph/graph.ts';
import type { CalibrationStatistics } from '../calibrate/statistics-file.ts';
import { type Divided, divideActivations } from './divide-activations.ts';
import { largestByInput } from './product-weights.ts';

/**
 * Move part of the magnitude of activation channels into the weights of the products that use them. The model
 * computes the same, and no activation has a channel that makes all others coarse.
 */
export const smoothActivations = (
  graph: Graph,
  names: Names,
  { alpha, exclude }: { alpha: number; exclude: readonly string[] },
  statistics: CalibrationStatistics,
): Divided =>
  divideActivations(graph, names, exclude, (activation, products) => {
    const observed = statistics.get(activation);
    if (observed === undefined) return undefined;
    const weights = products.map(largestByInput);
    const largest = Float64Array.from(observed.largest, (_, at) =>
      Math.max(...weights.map((weight) => weight[at] ?? 0)),
    );
    return smoothingFactors(observed.largest, largest, alpha);
  });

const maxFactor = 1e4;

/** Bounds of a channel's factor. Beyond them, one side would lose its precision. */
const minFactor = 1e-4;

/**
 * Return the factor that divides each channel of an activation and multiplies its weights: max|x|^α / max|w|^(1 −
 * α), stored as float32 (SmoothQuant; Xiao et al., 2023, equation 4). 1 if either is always zero.
 */
export function smoothingFactors(
  activation: ArrayLike<number>,
  weight: ArrayLike<number>,
  alpha: number,
): Float32Array {
  return Float32Array.from(activation, (x, at) => {
    const w = weight[at] ?? 0;
    if (!(x > 0) || !(w > 0)) return 1;
    return Math.min(maxFactor, Math.max(minFactor, x ** alpha / w ** (1 - alpha)));
  });
}
