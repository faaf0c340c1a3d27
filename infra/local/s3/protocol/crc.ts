/** CRC-32C (Castagnoli), reflected polynomial 0x82F63B78, as in RFC 3720. */
const polynomial = 0x82f63b78;

const byteTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ polynomial : value >>> 1;
  return value;
});

/** Update a CRC-32C with more bytes. Begin with 0, as with `zlib.crc32`. */
export function crc32c(data: Uint8Array, before = 0): number {
  let value = ~before >>> 0;
  for (let index = 0; index < data.length; index += 1) {
    value = (byteTable[(value ^ (data[index] ?? 0)) & 0xff] ?? 0) ^ (value >>> 8);
  }
  return ~value >>> 0;
}

/** CRC-64/NVME, reflected polynomial 0x9A6C9329AC4BC9B5, in two halves of 32 bits because BigInt is slow. */
const polynomialHigh = 0x9a6c9329;
const polynomialLow = 0xac4bc9b5;

const highTable = new Uint32Array(256);
const lowTable = new Uint32Array(256);
for (let byte = 0; byte < 256; byte += 1) {
  let high = 0;
  let low = byte;
  for (let bit = 0; bit < 8; bit += 1) {
    const odd = low & 1;
    low = (low >>> 1) | (high << 31);
    high >>>= 1;
    if (odd) {
      low ^= polynomialLow;
      high ^= polynomialHigh;
    }
  }
  highTable[byte] = high;
  lowTable[byte] = low;
}

/** Update a CRC-64/NVME with more bytes. Begin with 0n. */
export function crc64nvme(data: Uint8Array, before = 0n): bigint {
  let high = ~Number(before >> 32n);
  let low = ~Number(before & 0xffffffffn);
  for (let index = 0; index < data.length; index += 1) {
    const slot = (low ^ (data[index] ?? 0)) & 0xff;
    low = ((low >>> 8) | (high << 24)) ^ (lowTable[slot] ?? 0);
    high = (high >>> 8) ^ (highTable[slot] ?? 0);
  }
  return (BigInt(~high >>> 0) << 32n) | BigInt(~low >>> 0);
}

/** A reflected CRC with equal initial and final complement. */
export interface CrcShape {
  width: bigint;
  /** Reflected polynomial. */
  polynomial: bigint;
}

/**
 * Return a function that combines the CRCs of two pieces into the CRC of the joined bytes. It needs the length of
 * the second piece in bytes, and multiplies with x^(8·length) modulo the polynomial (Mark Adler's method in zlib).
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

/** Return x^(8·exponent) modulo the polynomial. In reflected form the highest bit is x^0. */
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
