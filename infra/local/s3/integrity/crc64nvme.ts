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

/** Continues a CRC-64/NVME over more bytes; begin with 0n. */
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
