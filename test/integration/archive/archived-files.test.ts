import { crc32, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ArchiveError } from '../../../shared/archive/archive-error.ts';
import { archivedFiles } from '../../../shared/archive/archived-files.ts';
import { pax, tar, tarEntry, zip } from './archive-bytes.ts';

const limits = { maxEntries: 5, maxBytes: 100_000, maxPathBytes: 200, maxDepth: 10 };
const content = (text: string) => Buffer.from(text);
const told = (text: string) => `${text.length} ${crc32(text)}`;

const archive = tar(
  tarEntry('top/', { type: '5' }),
  pax({ path: './top/a long name' }),
  tarEntry('x', { content: 'one' }),
  tarEntry('empty'),
);
const zipped = zip({ 'top/': {}, './top/a long name': { content: content('one') }, empty: {} });

describe('the files of an archive', () => {
  test.each([
    ['tar', archive],
    ['tar.gz', gzipSync(archive)],
    ['zip', zipped],
  ])('%s: their paths, and what tells their contents apart', async (_, bytes) => {
    expect([...(await archivedFiles(bytes, limits)).files]).toEqual([
      ['top/a long name', told('one')],
      ['empty', told('')],
    ]);
  });

  const end = zipped.length - 22;
  const beyond = Buffer.from(zipped);
  beyond.writeUInt32LE(zipped.length + 1000, end + 16);
  const backwards = Buffer.from(zipped);
  backwards.writeUInt16LE(9, end + 8);
  backwards.writeUInt16LE(9, end + 10);
  const six = Array.from({ length: 6 }, (_, index) => [`${index}`, {}] as const);

  test.each([
    ['no archive', content('print(1)'), 'neither'],
    ['nothing', Buffer.alloc(0), 'neither'],
    ['a gzip that is cut', gzipSync(archive).subarray(0, 60), 'damaged'],
    ['a gzip bomb', gzipSync(tar(tarEntry('a', { content: 'a'.repeat(200_000) }))), '100000 bytes'],
    ['a way out', tar(tarEntry('../a')), '(..)'],
    ['too many files', tar(...six.map(([name]) => tarEntry(name))), '5 files'],
    ['too many files of a zip', zip(Object.fromEntries(six)), '5 files'],
    ['a zip whose list lies beyond it', beyond, 'damaged'],
    ['a zip that lists more than it has', backwards, 'damaged'],
    ['a zip without its end', zipped.subarray(0, end), 'damaged'],
  ])('%s is refused', async (_, bytes, fault) => {
    const refused = archivedFiles(bytes, limits);
    await expect(refused).rejects.toThrow(ArchiveError);
    await expect(refused).rejects.toThrow(fault);
  });
});
