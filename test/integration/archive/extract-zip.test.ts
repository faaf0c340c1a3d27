import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import { zip } from './archive-bytes.ts';
import { ExtractionFolder } from './extraction.ts';

const extraction = new ExtractionFolder();
const text = (content: string) => ({ content: Buffer.from(content) });

describe('zip archives that are fine', () => {
  test('what a library packed comes out again', async () => {
    const packed = new ZipFile();
    packed.addBuffer(Buffer.from('x'.repeat(70_000)), 'top/zoë 模型.py', { mode: 0o100755 });
    packed.addBuffer(Buffer.from('plain'), 'top/plain.txt', { compress: false, mode: 0o104600 });
    packed.addEmptyDirectory('top/empty');
    packed.end();
    const { entries, bytes } = await extraction.extract(await buffer(packed.outputStream));
    expect({ entries, bytes }).toEqual({ entries: 4, bytes: 70_005 });
    expect((await readFile(join(extraction.into, 'top/zoë 模型.py'), 'utf8')).length).toBe(70_000);
    expect((await stat(join(extraction.into, 'top/zoë 模型.py'))).mode & 0o7777).toBe(0o755);
    expect((await stat(join(extraction.into, 'top/plain.txt'))).mode & 0o7777).toBe(0o644);
    expect((await stat(join(extraction.into, 'top/empty'))).isDirectory()).toBe(true);
  });

  test('names in UTF-8 without the flag, and archives made off Unix', async () => {
    await extraction.extract(zip({ 'zoë.txt': { ...text('hi'), flags: 0, mode: 0 }, 'd/': { mode: 0 } }));
    expect(await readFile(join(extraction.into, 'zoë.txt'), 'utf8')).toBe('hi');
  });

  test('an archive without entries', async () => {
    expect(await extraction.extract(zip({}))).toEqual({ entries: 0, bytes: 0 });
  });
});

describe('zip archives that are refused, whole', () => {
  test.each<[string, Parameters<typeof zip>[0], string | RegExp]>([
    ['a way out', { '../evil': {} }, '(..)'],
    ['an absolute path', { '/evil': {} }, 'absolute'],
    ['a drive', { 'c:/evil': {} }, 'drive'],
    ['a backslash', { '..\\evil': {} }, 'backslash'],
    ['NUL', { 'a\0b': {} }, 'control'],
    ['a symbolic link', { link: { ...text('/etc'), mode: 0o120777 } }, /"link".*symbolic/],
    ['a symbolic link named as a folder', { 'link/': { mode: 0o120777 } }, 'symbolic'],
    ['a device', { dev: { mode: 0o060666 } }, 'neither a file nor a folder'],
    ['a fifo', { fifo: { mode: 0o010666 } }, 'neither a file nor a folder'],
    ['a folder named as a file', { a: { mode: 0o040755 } }, 'neither a file nor a folder'],
    ['a folder with content', { 'a/': { ...text('x'), mode: 0o040755 } }, 'folder with content'],
    ['encryption', { secret: { ...text('x'), flags: 1, size: 1, compressedSize: 13 } }, /encrypted|damaged/],
    ['strong encryption', { secret: { ...text('x'), flags: 0x41 } }, 'encryption'],
    ['an unknown method', { a: { ...text('x'), method: 14 } }, 'method (14)'],
    ['a wrong checksum', { a: { ...text('abc'), crc: 1 } }, /"a".*checksum/],
    ['damaged content', { a: { content: Buffer.alloc(50, 0xff), method: 8, size: 50 } }, 'damaged'],
    ['less content than stated', { a: { content: deflateRawSync('abc'), method: 8, size: 50 } }, 'damaged'],
    ['content beyond the file', { a: { ...text('abc'), size: 5_000, compressedSize: 5_000 } }, 'damaged'],
    ['the same file twice', { a: {}, './a': {} }, 'twice'],
    ['a file as a folder', { a: {}, 'a/b': {} }, 'a folder of its path is a file'],
    ['a stated size beyond the limit', { a: { method: 8, size: 200_000 } }, '100000 bytes'],
  ])('%s', async (_what, entries, reason) => {
    await extraction.expectRefusal(zip({ 'fine.txt': text('x'), ...entries }), reason);
  });

  test('a bomb that states a small size', async () => {
    const content = deflateRawSync(Buffer.alloc(50_000_000));
    await extraction.expectRefusal(zip({ bomb: { content, method: 8, size: 10 } }), 'damaged');
  });

  test('more entries than allowed, stated or not', async () => {
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`f${index}`, {}]));
    await extraction.expectRefusal(zip(many), 'more than 20');
    await extraction.expectRefusal(zip(many, { count: 5 }), 'more entries than its directory declares');
  });

  test.each([30, 60, 100])('the last %i bytes missing', async (missing) => {
    await extraction.expectRefusal(zip({ a: text('x'.repeat(200)) }).subarray(0, -missing), 'damaged');
  });

  test('bytes behind the end', async () => {
    await extraction.expectRefusal(Buffer.concat([zip({ a: text('x') }), Buffer.from('junk')]), 'damaged');
  });

  test('offsets that no file has', async () => {
    const locator = Buffer.concat([
      Buffer.from('PK\x06\x07'),
      Buffer.alloc(4),
      Buffer.alloc(8, 0xff),
      Buffer.alloc(4),
    ]);
    await extraction.expectRefusal(zip({ a: text('x') }, { tail: locator }), 'beyond its end');
  });
});
