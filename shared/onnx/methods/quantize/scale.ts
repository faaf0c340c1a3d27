/** Types of 8-bit quantized values. */
export type IntegerType = 'int8' | 'uint8';

/** How a range of numbers is mapped to the levels of an integer type. */
export interface Mapping {
  type: IntegerType;
  /** Zero is the middle level; int8 then leaves out -128. */
  symmetric: boolean;
  /** Seven bits, for processors whose 8-bit products saturate. */
  reduced: boolean;
}

/** A number is `scale · (level − zeroPoint)`. */
export interface Scale {
  scale: number;
  zeroPoint: number;
}

/** Smallest and largest level that a type has. */
export const levelsOf = (type: IntegerType): readonly [number, number] =>
  type === 'int8' ? [-128, 127] : [0, 255];

function usedLevels({ type, symmetric, reduced }: Mapping): readonly [number, number] {
  if (reduced) return type === 'int8' ? [-64, 64] : [0, 127];
  return symmetric && type === 'int8' ? [-127, 127] : levelsOf(type);
}

/** 1.5 · 2^52: sums with it have no fraction, and processors round them half to even. */
const noFraction = 6755399441055744;

/** Rounds half to even; for magnitudes below 2^51. */
export const roundHalfEven = (value: number): number => value + noFraction - noFraction;

const smallestNormalFloat32 = 2 ** -126;

/**
 * Scale and zero point of a range of float32 numbers, widened to hold zero, by the formulas of ONNX Runtime's quantizer:
 * the width in float32, the scale in double precision, stored as float32. A range without width has scale 1.
 */
export function scaleOf(min: number, max: number, mapping: Mapping): Scale {
  const [least, most] = usedLevels(mapping);
  const magnitude = Math.max(-min, max, 0);
  const low = mapping.symmetric ? -magnitude : Math.min(min, 0);
  const high = mapping.symmetric ? magnitude : Math.max(max, 0);
  const scale = Math.fround(high - low) / (most - least);
  if (scale < smallestNormalFloat32) return { scale: 1, zeroPoint: 0 };
  const zero = mapping.symmetric ? (least + most) / 2 : least - low / scale;
  return { scale: Math.fround(scale), zeroPoint: roundHalfEven(zero) };
}
