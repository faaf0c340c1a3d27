import { inverseFactor } from '../../model/tensor/cholesky.ts';

/** The curvature of the squared error of a product with k inputs. */
export interface Curvature {
  channels: number;
  /** Inputs in the order in which their weights change. */
  order: Uint32Array;
  /** Diagonal of the Hessian without damping, in the original order of the inputs. */
  diagonal: Float64Array;
  /** Upper triangular U (k × k) with (H + λI)⁻¹ = UᵀU, in the order of `order`. */
  factor: Float64Array;
}

/** Return the inputs by descending diagonal, ties by index. */
export const largestFirst = (diagonal: Float64Array): Uint32Array =>
  Uint32Array.from(diagonal.keys()).sort((a, b) => (diagonal[b] ?? 0) - (diagonal[a] ?? 0) || a - b);

/** Return the inputs in their original order. */
export const firstToLast = (diagonal: Float64Array): Uint32Array => Uint32Array.from(diagonal.keys());

/** Damping as a share of the mean of the Hessian's diagonal. It grows tenfold until it suffices. */
const firstDamping = 0.01;

const maxDamping = 1e4;

/**
 * Return the curvature for inputs with this second moment (XᵀX / rows, k × k). An input that was always zero
 * counts as one of mean size: no sample shows the effect of its weights, but other data may. Undefined if all
 * inputs were zero, or if no damping makes the Hessian invertible, for example because of values that are not
 * finite.
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
