import { type AsyncBuffer, parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet';
import { decompressGzip, decompressLz4, decompressLz4Raw, decompressZstd } from 'hyparquet-compressors';

/** Rows that are read. */
const maxRows = 10_000;

/** Decompressors without WebAssembly, which the policy of the page forbids. Snappy is part of hyparquet. */
const compressors = {
  GZIP: decompressGzip,
  LZ4: decompressLz4,
  LZ4_RAW: decompressLz4Raw,
  ZSTD: (input: Uint8Array) => decompressZstd(input),
};

/**
 * Read the first rows of a Parquet file. It reads only the parts of the file that hold them. The module imports no
 * other part of the console, so that it is one file to load.
 */
export async function readParquet(
  file: AsyncBuffer,
): Promise<{ columns: string[]; rows: unknown[][]; total: number; isWhole: boolean }> {
  const metadata = await parquetMetadataAsync(file);
  const total = Number(metadata.num_rows);
  const columns = parquetSchema(metadata).children.map(({ element }) => element.name);
  const records = await parquetReadObjects({ file, metadata, compressors, rowEnd: Math.min(total, maxRows) });
  return {
    columns,
    rows: records.map((record) => columns.map((column): unknown => record[column])),
    total,
    isWhole: total <= maxRows,
  };
}
