/** A reflected CRC with equal initial and final complement. */
export interface CrcShape {
  width: bigint;
  /** Reflected polynomial. */
  polynomial: bigint;
}

/**
 * Returns a function giving the CRC of two joined pieces from their CRCs and the second one's length in
 * bytes, by multiplying with x^(8·length) modulo the polynomial (Mark Adler's method in zlib).
 */
export function crcCombiner(shape: CrcShape): (first: bigint, second: bigint, length: number) => bigint {
  const shifts = new Map<number, bigint>();
  return (first, second, length) => {
    let shift = shifts.get(length);
    if (shift === undefined) {
      shift = powerOfX8(length, shape);
      shifts.set(length, shift);
    }
    return multiply(shift, first, shape) ^ second;
  };
}

/** x^(8·exponent) modulo the polynomial. In reflected form the highest bit is x^0. */
function powerOfX8(exponent: number, shape: CrcShape): bigint {
  let result = 1n << (shape.width - 1n);
  let square = 1n << (shape.width - 9n);
  for (let rest = BigInt(exponent); rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = multiply(result, square, shape);
    square = multiply(square, square, shape);
  }
  return result;
}

function multiply(left: bigint, right: bigint, { width, polynomial }: CrcShape): bigint {
  let product = 0n;
  let shifted = right;
  for (let bit = 1n << (width - 1n); bit > 0n; bit >>= 1n) {
    if (left & bit) product ^= shifted;
    shifted = shifted & 1n ? (shifted >> 1n) ^ polynomial : shifted >> 1n;
  }
  return product;
}
