/** Scale and zero point of a block. A value is `scale · (level − zeroPoint)`, with levels from 0. */
export interface BlockScale {
  scale: number;
  zeroPoint: number;
}

/**
 * Return scale and zero point of a block with values between `low` and `high`, zero included, computed in float32
 * as in ONNX Runtime. Symmetric: the value with the largest magnitude becomes −2^(bits − 1). Asymmetric: the
 * levels cover the whole range.
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

/** Return the float32 reciprocal of a scale, which converts values to levels. */
export const reciprocalOf = (scale: number): number => (scale === 0 ? 0 : Math.fround(1 / scale));

/**
 * Return the level of a float32 value, from 0 to `most`. A sum below zero is clamped to zero. Adding a half and
 * truncating then rounds half away from zero, as in ONNX Runtime's block quantizer.
 */
export function levelOf(value: number, reciprocal: number, zeroPoint: number, most: number): number {
  const shifted = Math.fround(Math.fround(Math.fround(value) * reciprocal) + zeroPoint) + 0.5;
  return shifted < 0 ? 0 : shifted > most ? most : Math.floor(shifted);
}

/** Values of a block and the weights of their errors, by default all the same. */
export interface WeightedBlock {
  values: Float64Array;
  weights?: Float64Array | undefined;
}

/** Candidate shares of the block's range, from 1 down to 0.6. */
const shrinks = Float64Array.from({ length: 17 }, (_, at) => 1 - at / 40);

/**
 * Return the scale with the least squared error over a block. The candidates are the block's own range, shrunk
 * evenly at both ends. With symmetric scales, either end of the range may become the extreme level. Ties use the
 * first candidate.
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

/** Return the weighted squared error of a block. Stop when it reaches `bound`. */
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
    sum += (weights?.[at] ?? 1) * error * error;
  }
  return sum;
}
