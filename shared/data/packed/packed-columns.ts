import { constants, type ZstdOptions, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** Rows as columns: any JSON, and columns of numbers. Numbers keep their exact values, including NaN and -0. */
export interface Columns {
  json: unknown;
  numbers: readonly Float64Array[];
}

export interface UnpackedColumns extends Columns {
  /** Bytes of the JSON. */
  jsonBytes: number;
}

const isInteger = (value: number): boolean => Number.isSafeInteger(value) && !Object.is(value, -0);

/** Convert whole numbers to differences, which compress well. Return undefined if not all are whole. */
function differences(column: Float64Array): Float64Array | undefined {
  const result = new Float64Array(column.length);
  let previous = 0;
  for (let index = 0; index < column.length; index += 1) {
    const value = column[index] ?? 0;
    const difference = value - previous;
    if (!isInteger(value) || !Number.isSafeInteger(difference)) return undefined;
    result[index] = difference;
    previous = value;
  }
  return result;
}

function undoDifferences(column: Float64Array): Float64Array {
  let value = 0;
  for (let index = 0; index < column.length; index += 1) {
    value += column[index] ?? 0;
    column[index] = value;
  }
  return column;
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float64Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** Maximum bytes for the zstd settings of small inputs. */
const fewBytes = 16_384;

/**
 * zstd settings for small inputs. With them zstd works in less than 32 KiB, which malloc serves quickly. The
 * result is at most 2 percent longer.
 */
const forFew = (bytes: number): ZstdOptions => ({
  pledgedSrcSize: bytes,
  // The result fits into one chunk, even if it does not get shorter.
  chunkSize: bytes + 1024,
  params: {
    [constants.ZSTD_c_windowLog]: 12,
    [constants.ZSTD_c_hashLog]: 10,
    [constants.ZSTD_c_chainLog]: 10,
  },
});

/** Pack columns into bytes: length of a JSON header, header, numbers; compressed with zstd. */
export function packColumns({ json, numbers }: Columns): Uint8Array {
  const columns = numbers.map((column) => ({ column, changes: differences(column) }));
  const shapes = columns.map(({ column, changes }) => [column.length, changes === undefined ? 0 : 1]);
  const header = Buffer.from(JSON.stringify({ json, shapes }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  const parts = columns.map(({ column, changes }) => bytesOf(changes ?? column));
  const bytes = Buffer.concat([length, header, ...parts]);
  return zstdCompressSync(bytes, bytes.length > fewBytes ? {} : forFew(bytes.length));
}

/** Unpack the columns of {@link packColumns}. */
export function unpackColumns(packed: Uint8Array): UnpackedColumns {
  const bytes = zstdDecompressSync(packed);
  const from = 4 + bytes.readUInt32LE(0);
  const { json, shapes }: { json: unknown; shapes: [number, number][] } = JSON.parse(
    bytes.toString('utf8', 4, from),
  );
  // The numbers may be unaligned, so copy them to an aligned buffer.
  const all = bytes.buffer.slice(bytes.byteOffset + from, bytes.byteOffset + bytes.length);
  let at = 0;
  const numbers = shapes.map(([length, isChanges]) => {
    const column = new Float64Array(all, at, length);
    at += column.byteLength;
    return isChanges === 1 ? undoDifferences(column) : column;
  });
  return { json, numbers, jsonBytes: from - 4 };
}
