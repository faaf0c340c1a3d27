/** Scale and zero point of a block: a value is `scale · (level − zeroPoint)`, and levels count from 0. */
export interface BlockScale {
  scale: number;
  zeroPoint: number;
}

/**
 * Scale and zero point of a block whose values, zero included, lie between `low` and `high`, in float32 as ONNX Runtime
 * computes them: symmetric, the value of the largest magnitude becomes −2^(bits − 1); asymmetric, the whole range.
 */
export function blockScale(low: number, high: number, bits: 4 | 8, symmetric: boolean): BlockScale {
  const middle = 2 ** (bits - 1);
  if (symmetric) {
    const extreme = Math.abs(high) > Math.abs(low) ? high : low;
    return { scale: extreme === 0 ? 0 : Math.fround(extreme / -middle), zeroPoint: middle };
  }
  const most = 2 ** bits - 1;
  const scale = Math.fround(Math.fround(high - low) / most);
  if (scale === 0) return { scale, zeroPoint: 0 };
  return { scale, zeroPoint: Math.min(most, Math.max(0, Math.floor(Math.fround(-low / scale) + 0.5))) };
}

/** The reciprocal by which values are multiplied to become levels, in float32. */
export const reciprocalOf = (scale: number): number => (scale === 0 ? 0 : Math.fround(1 / scale));

/**
 * The level of a float32 value, 0 to `most`. A sum below zero is clamped to zero, so that adding a half and cutting off
 * is half away from zero, as ONNX Runtime's block quantizer rounds.
 */
export function levelOf(value: number, reciprocal: number, zeroPoint: number, most: number): number {
  const shifted = Math.fround(Math.fround(Math.fround(value) * reciprocal) + zeroPoint) + 0.5;
  return shifted < 0 ? 0 : shifted > most ? most : Math.floor(shifted);
}

/** Values of a block and how much the error of each counts. */
export interface WeightedBlock {
  values: Float64Array;
  weights: Float64Array;
}

/** Parts of the whole range that are tried: from all of it down to 0.6. */
const shrinks = Float64Array.from({ length: 17 }, (_, at) => 1 - at / 40);

/**
 * The scale whose squared error over a block is least, of the ranges that are the block's own shrunk evenly; symmetric,
 * either end of the range may become the extreme level. The first one of equals.
 */
export function bestBlockScale(block: WeightedBlock, bits: 4 | 8, symmetric: boolean): BlockScale {
  let low = 0;
  let high = 0;
  for (const value of block.values) {
    if (value < low) low = value;
    else if (value > high) high = value;
  }
  const most = 2 ** bits - 1;
  let best: BlockScale = { scale: 0, zeroPoint: 2 ** (bits - 1) };
  let least = Number.POSITIVE_INFINITY;
  for (const shrink of shrinks) {
    const [down, up] = [Math.fround(low * shrink), Math.fround(high * shrink)];
    for (const [from, to] of symmetric
      ? ([
          [down, up],
          [-up, -down],
        ] as const)
      : ([[down, up]] as const)) {
      const candidate = blockScale(from, to, bits, symmetric);
      const error = squaredError(block, candidate, most, least);
      if (error < least) {
        least = error;
        best = candidate;
      }
    }
  }
  return best;
}

/** Summed up to a bound, beyond which it does not matter. */
function squaredError(
  { values, weights }: WeightedBlock,
  { scale, zeroPoint }: BlockScale,
  most: number,
  bound: number,
): number {
  const reciprocal = reciprocalOf(scale);
  let sum = 0;
  for (let at = 0; at < values.length && sum < bound; at += 1) {
    const value = values[at] ?? 0;
    const error = (levelOf(value, reciprocal, zeroPoint, most) - zeroPoint) * scale - value;
    sum += (weights[at] ?? 1) * error * error;
  }
  return sum;
}
