import { inverseFactor } from '../../model/tensor/cholesky.ts';

/** The curvature of the squared error of a product, of k inputs. */
export interface Curvature {
  channels: number;
  /** The inputs in the order in which their weights are changed. */
  order: Uint32Array;
  /** The Hessian's diagonal without damping, in the inputs' own order. */
  diagonal: Float64Array;
  /** Upper triangular U (k × k) with (H + λI)⁻¹ = UᵀU, in that order. */
  factor: Float64Array;
}

/** The inputs, the largest first; of equals the first. */
export const largestFirst = (diagonal: Float64Array): Uint32Array =>
  Uint32Array.from(diagonal.keys()).sort((a, b) => (diagonal[b] ?? 0) - (diagonal[a] ?? 0) || a - b);

/** The inputs as they lie. */
export const firstToLast = (diagonal: Float64Array): Uint32Array => Uint32Array.from(diagonal.keys());

/** Share of the mean of the Hessian's diagonal that is added to it; ten times as much where that is not enough. */
const firstDamping = 0.01;

const maxDamping = 1e4;

/**
 * The curvature for inputs of this second moment (XᵀX / rows, k × k). An input that was always zero counts as one of mean
 * size: no sample tells what its weights do, and those of other data may. Undefined where all inputs were zero, and where
 * no damping makes the Hessian invertible, as where it holds values that are not finite.
 */
export function curvatureOf(
  moment: Float64Array,
  k: number,
  orderOf: (diagonal: Float64Array) => Uint32Array,
): Curvature | undefined {
  const sizes = Float64Array.from({ length: k }, (_, at) => moment[at * k + at] ?? 0);
  const mean = sizes.reduce((sum, size) => sum + size, 0) / k;
  const diagonal = sizes.map((size) => (size === 0 ? mean : size));
  const order = orderOf(diagonal);
  for (let damping = firstDamping; mean > 0 && damping <= maxDamping; damping *= 10) {
    const hessian = new Float64Array(k * k);
    for (const [row, from] of order.entries()) {
      for (const [column, other] of order.entries())
        hessian[row * k + column] = moment[from * k + other] ?? 0;
      hessian[row * k + row] = (diagonal[from] ?? 0) + damping * mean;
    }
    const factor = inverseFactor(hessian, k);
    if (factor !== undefined) return { channels: k, order, diagonal, factor };
  }
  return undefined;
}
