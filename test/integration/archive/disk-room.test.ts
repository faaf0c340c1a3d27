import { readdir, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { DiskRoom, DiskRoomError, freeBytes } from '../../../shared/archive/disk-room.ts';
import { extractArchive } from '../../../shared/archive/extract-archive.ts';
import { tar, tarEntry, zip } from './archive-bytes.ts';
import { ExtractionFolder, limits } from './extraction.ts';

describe('the disk that an archive is unpacked to', () => {
  const extraction = new ExtractionFolder();

  async function extract(archive: Buffer, free: number) {
    const file = join(extraction.folder, 'archive');
    await writeFile(file, archive);
    const room = new DiskRoom(extraction.folder, () => free);
    return extractArchive({ file, into: extraction.into, limits, room });
  }

  const content = Buffer.alloc(50_000);
  const archives: [string, Buffer][] = [
    ['tar.gz', gzipSync(tar(tarEntry('first', { content }), tarEntry('second', { content })))],
    ['zip', zip({ first: { content }, second: { content } })],
  ];

  test.each(archives)('is not filled by a %s: what is needed and free is said', async (_, archive) => {
    const fault: unknown = await extract(archive, 49_999).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(DiskRoomError);
    expect(String(fault)).toContain('entry "first" needs 50000 bytes, but the disk has 49999 free');
    expect(await readdir(extraction.folder)).toEqual(['archive']);
  });

  test.each(archives)('takes a %s for which there is room', async (_, archive) => {
    expect(await extract(archive, 100_000)).toEqual({ entries: 2, bytes: 100_000 });
  });

  test('is asked itself, and some of it stays free', async () => {
    const { bavail, bsize } = await statfs(extraction.folder);
    const free = freeBytes(extraction.folder);
    expect(free).toBeGreaterThan(0);
    expect(free).toBeLessThan(bavail * bsize);
    expect(() => new DiskRoom(extraction.folder).require(2 ** 60, 'x')).toThrow(DiskRoomError);
  });
});
