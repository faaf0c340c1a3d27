/** Return the masked CRC-32C of TFRecords. */
export function maskedCrc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (table[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  const value = (crc ^ 0xffffffff) >>> 0;
  return (((value >>> 15) | (value << 17)) + maskDelta) >>> 0;
}

const maskDelta = 0xa282ead8;

/** Castagnoli's polynomial, bits reversed. */
const polynomial = 0x82f63b78;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
  return crc >>> 0;
});
