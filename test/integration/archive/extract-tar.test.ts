import { lstat, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { create } from 'tar';
import { describe, expect, test } from 'vitest';
import { extractArchive } from '../../../shared/archive/extract-archive.ts';
import { pax, seal, tar, tarEnd, tarEntry } from './archive-bytes.ts';
import { ExtractionFolder, limits } from './extraction.ts';

const extraction = new ExtractionFolder();
const longPath = `${'folder-'.repeat(20)}/${'name-'.repeat(30)}.txt`;

describe('tar archives that are fine', () => {
  test.each([true, false])('what tar packed comes out again (gzip: %s)', async (gzip) => {
    const source = join(extraction.folder, 'source');
    await mkdir(join(source, 'top', longPath, '..'), { recursive: true });
    await writeFile(join(source, 'top', longPath), 'long');
    await writeFile(join(source, 'top', 'zoë 模型.py'), 'x'.repeat(70_000), { mode: 0o4750 });
    await writeFile(join(source, 'top', 'empty'), '', { mode: 0o600 });
    const file = join(extraction.folder, 'archive.zip'); // the name says nothing
    await create({ cwd: source, file, gzip }, ['top']);
    const { entries, bytes } = await extractArchive({ file, into: extraction.into, limits });
    expect({ entries, bytes }).toEqual({ entries: 5, bytes: 70_004 });
    expect(await readFile(join(extraction.into, 'top', longPath), 'utf8')).toBe('long');
    expect((await stat(join(extraction.into, 'top', 'zoë 模型.py'))).mode & 0o7777).toBe(0o755);
    expect((await stat(join(extraction.into, 'top', 'empty'))).mode & 0o7777).toBe(0o644);
    expect((await stat(join(extraction.into, 'top'))).mode & 0o7777).toBe(0o755);
    expect((await stat(extraction.into)).mode & 0o7777).toBe(0o755);
    expect((await readdir(extraction.folder)).sort()).toEqual(['archive.zip', 'into', 'source']);
  });

  test('GNU long names, pax paths and sizes, git comments, folders twice', async () => {
    const long = { type: 'L', gnu: true };
    await extraction.extract(
      tar(
        pax({ comment: 'a1b2c3' }, 'g'),
        tarEntry('./', { type: '5' }),
        tarEntry('d/', { type: '5', size: '00000001000' }),
        tarEntry('d', { type: '5' }),
        tarEntry('././@LongLink', { ...long, content: `${longPath}\0` }),
        tarEntry('cut', { content: 'gnu', gnu: true }),
        pax({ path: `d/${longPath}`, size: '3', mtime: '-1e400', 'SCHILY.xattr.user.x': 'é\n=' }),
        tarEntry('cut', { content: 'pax', size: '' }),
        tarEntry('old/', { type: '\0' }),
        tarEntry('old/v7', { type: '\0', content: 'v7' }),
      ),
    );
    expect(await readFile(join(extraction.into, longPath), 'utf8')).toBe('gnu');
    expect(await readFile(join(extraction.into, 'd', longPath), 'utf8')).toBe('pax');
    expect(await readFile(join(extraction.into, 'old/v7'), 'utf8')).toBe('v7');
  });

  test('a size in the binary form of GNU', async () => {
    const entry = tarEntry('a', { content: 'four' });
    entry.set([0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4], 124);
    seal(entry.subarray(0, 512));
    await extraction.extract(tar(entry));
    expect(await readFile(join(extraction.into, 'a'), 'utf8')).toBe('four');
  });

  test('an archive without entries makes an empty folder', async () => {
    expect(await extraction.extract(tarEnd)).toEqual({ entries: 0, bytes: 0 });
    expect(await readdir(extraction.into)).toEqual([]);
  });

  test('several gzip members, one after the other', async () => {
    const archive = tar(tarEntry('a', { content: 'x' }));
    const members = [gzipSync(archive.subarray(0, 700)), gzipSync(archive.subarray(700))];
    expect(await extraction.extract(Buffer.concat(members))).toEqual({ entries: 1, bytes: 1 });
  });

  test.runIf(process.getuid?.() === 0)('everything belongs to the owner asked for', async () => {
    const file = join(extraction.folder, 'archive');
    await writeFile(file, tar(tarEntry('a/b', { content: 'x' })));
    await extractArchive({ file, into: extraction.into, limits, owner: { uid: 60_123, gid: 60_124 } });
    for (const place of ['', 'a', 'a/b']) {
      expect(await lstat(join(extraction.into, place))).toMatchObject({ uid: 60_123, gid: 60_124 });
    }
  });
});

describe('tar archives that are refused, whole', () => {
  const fine = tarEntry('fine.txt', { content: 'x' });

  test.each<[string, Buffer[], string | RegExp]>([
    ['a way out', [tarEntry('a/../../evil')], /evil.*\(\.\.\)/],
    ['a way out by pax', [pax({ path: '../evil' }), tarEntry('a')], '(..)'],
    [
      'a way out by a GNU long name',
      [tarEntry('L', { type: 'L', content: '../evil\0' }), tarEntry('a')],
      '(..)',
    ],
    ['an absolute path', [tarEntry('/etc/cron.d/evil')], 'absolute'],
    ['a drive', [tarEntry('C:/evil')], 'drive'],
    ['a backslash', [tarEntry('..\\evil')], 'backslash'],
    ['a control character', [tarEntry('a\u001b[2J')], 'control'],
    ['NUL in a pax path', [pax({ path: 'a\0b' }), tarEntry('a')], 'control'],
    ['NUL in a long name', [tarEntry('L', { type: 'L', content: 'a\0b\0' }), tarEntry('a')], 'control'],
    ['a name that is not UTF-8', [tarEntry(Buffer.of(0x61, 0xff))], 'UTF-8'],
    [
      'a symbolic link',
      [tarEntry('link', { type: '2', link: '/etc' }), tarEntry('link/x')],
      /"link".*symbolic/,
    ],
    ['a harmless symbolic link', [tarEntry('link', { type: '2', link: 'fine.txt' })], 'symbolic'],
    ['a hard link', [tarEntry('link', { type: '1', link: '/etc/shadow' })], 'hard link'],
    ['a link with content', [tarEntry('link', { type: '1', link: 'a', content: 'abc' })], 'hard link'],
    ['a device', [tarEntry('sda', { type: '4' })], 'device'],
    ['a fifo', [tarEntry('fifo', { type: '6' })], 'pipe'],
    ['an old sparse file', [tarEntry('sparse', { type: 'S', gnu: true })], 'sparse'],
    ['a sparse file', [pax({ 'GNU.sparse.major': '1' }), tarEntry('a')], 'sparse'],
    ['an unknown kind', [tarEntry('odd', { type: 'Q' })], /"odd".*not supported/],
    ['the same file twice', [tarEntry('fine.txt')], /"fine.txt".*twice/],
    ['the same file otherwise written', [tarEntry('./fine.txt')], 'twice'],
    ['a file as a folder', [tarEntry('fine.txt/x')], 'a folder of its path is a file'],
    ['a folder in place of a file', [tarEntry('fine.txt', { type: '5' })], 'a folder of its path is a file'],
    ['a file in place of a folder', [tarEntry('d', { type: '5' }), tarEntry('d')], 'twice'],
    ['a file without a name', [tarEntry('.')], 'folder'],
    ['a negative size', [tarEntry('a', { size: '-0000000001' })], /"a".*number/],
    ['a mode that is none', [tarEntry('a', { mode: 'rwxr-xr' })], /"a".*number/],
    ['a size for all entries', [pax({ size: '1' }, 'g')], 'all entries'],
    ['a malformed pax header', [tarEntry('x', { type: 'x', content: '99 path=a\n' })], 'pax'],
    ['an endless header', [pax({ comment: 'x'.repeat(70_000) })], 'header of the archive is too large'],
    ['a wrong checksum', [Buffer.from(tarEntry('a').fill('b', 0, 1))], 'damaged'],
    ['a stated size beyond the limit', [tarEntry('huge', { size: '77777777777' })], /"huge".*100000 bytes/],
    ['something after the end', [tarEnd, tarEntry('hidden')], 'after its end mark'],
    ['too deep a path', [tarEntry('d/'.repeat(40))], 'deep'],
    ['too long a path', [pax({ path: 'd/'.repeat(300) }), tarEntry('a')], '500 bytes'],
    ['endless zeros', [Buffer.alloc(2_000_000)], 'zeros'],
  ])('%s', async (_what, entries, reason) => {
    await extraction.expectRefusal(tar(fine, ...entries), reason);
  });

  test('a binary size beyond what can be counted', async () => {
    const entry = tarEntry('a');
    entry.set([0x80, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 124);
    await extraction.expectRefusal(tar(seal(entry)), 'number');
  });

  test('too many entries, the folders within paths included', async () => {
    const files = Array.from({ length: 21 }, (_, index) => tarEntry(`f${index}`));
    await extraction.expectRefusal(tar(...files), 'more than 20 files');
    const folders = Array.from({ length: 4 }, (_, index) => tarEntry(`${index}/a/b/c/d/e`));
    await extraction.expectRefusal(tar(...folders), 'more than 20 files');
  });

  test('more bytes than allowed in all', async () => {
    const files = [1, 2, 3].map((index) => tarEntry(`f${index}`, { content: Buffer.alloc(40_000) }));
    await extraction.expectRefusal(tar(...files), /"f3".*100000 bytes/);
  });

  test.each([100, 600, 1_100, 1_600, 2_100])('cut short after %i bytes', async (length) => {
    const archive = tar(fine, tarEntry('b', { content: 'y'.repeat(600) }));
    await extraction.expectRefusal(archive.subarray(0, length), /cut short|neither/);
    await extraction.expectRefusal(gzipSync(archive.subarray(0, length)), 'cut short');
  });

  test('something behind a gzip stream', async () => {
    await extraction.expectRefusal(Buffer.concat([gzipSync(tar(fine)), Buffer.from('junk')]), 'damaged');
  });

  test('a gzip stream cut short or damaged', async () => {
    const packed = gzipSync(
      tar(tarEntry('a', { content: Buffer.from(crypto.getRandomValues(new Uint8Array(5_000))) })),
    );
    await extraction.expectRefusal(packed.subarray(0, -10), 'damaged');
    await extraction.expectRefusal(packed.subarray(0, 2_000), 'damaged');
    packed.fill(0xaa, packed.length - 8, packed.length - 4);
    await extraction.expectRefusal(packed, 'damaged');
  });

  test('a bomb is read no further than the limit', async () => {
    const bomb = gzipSync(
      tar(pax({ size: String(50_000_000) }), tarEntry('bomb', { size: '0' }), Buffer.alloc(50_000_000)),
    );
    await extraction.expectRefusal(bomb, /"bomb".*100000 bytes/);
  });

  test.each([
    ['empty', Buffer.alloc(0)],
    ['a text', Buffer.from('hello '.repeat(200))],
    ['gzip of a text', gzipSync(Buffer.from('hello '.repeat(200)))],
    ['xz', Buffer.from('fd377a585a000004', 'hex')],
  ])('%s is no archive', async (_what, bytes) => {
    await extraction.expectRefusal(bytes, /neither|tar header|cut short/);
  });

  test('a folder that holds something is left alone', async () => {
    await mkdir(extraction.into);
    await writeFile(join(extraction.into, 'mine'), 'mine');
    await expect(extraction.extract(tar(fine))).rejects.toThrow('ENOTEMPTY');
    expect(await readdir(extraction.into)).toEqual(['mine']);
    expect((await readdir(extraction.folder)).sort()).toEqual(['archive', 'into']);
  });
});
