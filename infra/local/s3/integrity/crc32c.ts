/** CRC-32C (Castagnoli), reflected polynomial 0x82F63B78, as RFC 3720 uses it. */
const polynomial = 0x82f63b78;

const byteTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ polynomial : value >>> 1;
  return value;
});

/** Continues a CRC-32C over more bytes; begin with 0, as with `zlib.crc32`. */
export function crc32c(data: Uint8Array, before = 0): number {
  let value = ~before >>> 0;
  for (let index = 0; index < data.length; index += 1) {
    value = (byteTable[(value ^ (data[index] ?? 0)) & 0xff] ?? 0) ^ (value >>> 8);
  }
  return ~value >>> 0;
}
