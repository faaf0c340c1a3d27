import {
  type AsyncBuffer,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
  snappyUncompress,
} from 'hyparquet';
import { decompressGzip, decompressLz4, decompressLz4Raw, decompressZstd } from 'hyparquet-compressors';
import { ParquetRoom } from './parquet-room.ts';

/** Rows that are read. */
const maxRows = 10_000;

/**
 * Decompressors without WebAssembly, which the policy of the page forbids. Each writes into as many bytes as the header of
 * the page says, and no more.
 */
const compressors = {
  SNAPPY: (input: Uint8Array, length: number) => {
    const output = new Uint8Array(length);
    snappyUncompress(input, output);
    return output;
  },
  GZIP: decompressGzip,
  LZ4: decompressLz4,
  LZ4_RAW: decompressLz4Raw,
  ZSTD: (input: Uint8Array, length: number) => decompressZstd(input, new Uint8Array(length)),
};

/**
 * Read the first rows of a Parquet file. It reads only the parts of the file that hold them. The module imports no
 * other part of the console but its neighbour, so that it is one file to load.
 * @throws Error with a sentence if the rows take too much memory
 */
export async function readParquet(
  file: AsyncBuffer,
  room = new ParquetRoom(),
): Promise<{ columns: string[]; rows: unknown[][]; total: number; isWhole: boolean }> {
  const metadata = await parquetMetadataAsync(file);
  const total = Number(metadata.num_rows);
  const columns = parquetSchema(metadata).children.map(({ element }) => element.name);
  const records = await parquetReadObjects({
    file: room.counted(file, metadata, maxRows),
    metadata,
    compressors,
    rowEnd: Math.min(total, maxRows),
  });
  return {
    columns,
    rows: records.map((record) => columns.map((column): unknown => record[column])),
    total,
    isWhole: total <= maxRows,
  };
}
