import { describe, expect, test } from 'vitest';
import { ArchiveError } from '../../../shared/archive/archive-error.ts';
import { entryPath } from '../../../shared/archive/entry-path.ts';

const limits = { maxEntries: 10, maxBytes: 10, maxPathBytes: 300, maxDepth: 4 };

describe('the path of an entry', () => {
  test.each([
    ['a/b.txt', ['a', 'b.txt']],
    ['./a//b/', ['a', 'b']],
    ['./', []],
    ['a..b/...', ['a..b', '...']],
    ['模型/ü.txt', ['模型', 'ü.txt']],
    ['-rf', ['-rf']],
  ])('%j', (path, segments) => {
    expect(entryPath(path, limits)).toEqual(segments);
  });

  test.each([
    ['', 'no name'],
    ['..', '(..)'],
    ['../a', '(..)'],
    ['a/../../b', '(..)'],
    ['a/..', '(..)'],
    ['/etc/passwd', 'absolute'],
    ['//host/share', 'absolute'],
    ['C:/a', 'drive'],
    ['c:a', 'drive'],
    ['..\\a', 'backslash'],
    ['a\\b', 'backslash'],
    ['a\0.txt', 'control'],
    ['a\nb', 'control'],
    ['a\u001b[2Jb', 'control'],
    ['a\u0085b', 'control'],
    ['a\ufffdb', 'Unicode'],
    ['a\ud800b', 'Unicode'],
    ['1/2/3/4/5', 'deep'],
    ['x'.repeat(256), '255 bytes'],
    ['ü'.repeat(151), '300 bytes'],
  ])('%j is refused', (path, reason) => {
    const act = () => entryPath(path, limits);
    expect(act).toThrow(ArchiveError);
    expect(act).toThrow(reason);
  });

  test('a message shows no control characters of the name', () => {
    expect(() => entryPath('a\u001b[31m\u007f\n', limits)).toThrow(/^[\x20-\x7e]+$/);
  });
});
