import { gzipSync, zstdCompressSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { ParquetRoom } from '../../../functions/console/app/preview/parquet-room.ts';
import { readParquet } from '../../../functions/console/app/preview/read-parquet.ts';

type Written = Parameters<typeof parquetWriteBuffer>[0];
const written = (data: unknown[], more: Partial<Written> = {}): ArrayBuffer =>
  parquetWriteBuffer({ columnData: [{ name: 'a', data, type: 'STRING' }], ...more } as Written);
const gzip = { codec: 'GZIP', compressors: { GZIP: (input: Uint8Array) => gzipSync(input) } } as const;
const tooLarge = /take more than 256 MB when they are unpacked/;

describe('a Parquet file', () => {
  test('is read in the formats of common writers', async () => {
    const rows = Array.from({ length: 300 }, (_, row) => `value ${row}`);

    for (const more of [{}, gzip, { codec: 'UNCOMPRESSED' as const }])
      expect(await readParquet(written(rows, more))).toMatchObject({
        columns: ['a'],
        total: 300,
        rows: rows.map((row) => [row]),
      });
  });

  test('that unpacks to more than fits is refused before it is unpacked', async () => {
    const file = written(['x'.repeat(5_000_000)], gzip);
    expect(file.byteLength).toBeLessThan(31_000);

    await expect(readParquet(file, new ParquetRoom(1_000_000))).rejects.toThrow(tooLarge);
  });

  test('with more values than fit is refused', async () => {
    const file = written(Array.from({ length: 9000 }, () => 'x'));

    await expect(readParquet(file, new ParquetRoom(100_000))).rejects.toThrow(tooLarge);
  });

  test('takes only as much memory as its headers say, whatever its pages hold', async () => {
    const lying = (bytes: Uint8Array) => zstdCompressSync(Buffer.concat([bytes, Buffer.alloc(50_000_000)]));
    const file = written(['x', 'y'], { codec: 'ZSTD', compressors: { ZSTD: lying } });
    const before = process.memoryUsage().arrayBuffers;

    await readParquet(file).catch(() => undefined);

    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
  });
});
