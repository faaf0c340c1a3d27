const scratch = new Float32Array(1);
const scratchBits = new Uint32Array(scratch.buffer);

/** IEEE 754 binary16 bits of a number: rounded half to even from float32, overflow to infinity. */
export function float16Bits(value: number): number {
  scratch[0] = value;
  const bits = scratchBits[0] ?? 0;
  const sign = (bits >>> 16) & 0x8000;
  const exponent = (bits >>> 23) & 0xff;
  const mantissa = bits & 0x7fffff;
  if (exponent === 0xff) return sign | 0x7c00 | (mantissa === 0 ? 0 : 0x200);
  const rebased = exponent - 112;
  if (rebased >= 31) return sign | 0x7c00;
  if (rebased <= 0) {
    if (rebased < -10) return sign;
    const full = mantissa | 0x800000;
    const shift = 14 - rebased;
    return sign | roundedShift(full, shift);
  }
  // A carry out of the mantissa raises the exponent, up to infinity, as it should.
  return sign | ((rebased << 10) + roundedShift(mantissa, 13));
}

function roundedShift(value: number, shift: number): number {
  const kept = value >>> shift;
  const rest = value & ((1 << shift) - 1);
  const half = 1 << (shift - 1);
  return rest > half || (rest === half && (kept & 1) === 1) ? kept + 1 : kept;
}

/** The number that binary16 bits stand for. */
export function float16Value(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 0x1f;
  const mantissa = bits & 0x3ff;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  if (exponent === 31) return mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + mantissa / 1024) * 2 ** (exponent - 15);
}
