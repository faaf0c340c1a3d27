import { describe, expect, test } from 'vitest';
import { ArchiveError } from '../../../shared/archive/archive-error.ts';
import { parsePaxRecords } from '../../../shared/archive/tar-reader.ts';

const read = (text: string) => parsePaxRecords(Buffer.from(text));

describe('pax records', () => {
  test('path and size are taken, the rest is passed over, the last one counts', () => {
    expect(read('30 mtime=1700000000.123456789\n12 path=a/b\n11 size=17\n12 path=c/d\n')).toEqual({
      path: 'c/d',
      size: 17,
    });
  });

  test('the target of a link is taken', () => {
    expect(read('21 linkpath=a/target\n')).toEqual({ linkpath: 'a/target' });
  });

  test('a value may hold line ends and equals signs', () => {
    expect(read('14 path=a\nb=c\n')).toEqual({ path: 'a\nb=c' });
  });

  test.each([
    '12 path=a/b',
    '99 path=a/b\n',
    '0 path=a/b\n',
    '-1 path=a/b\n',
    'x path=a/b\n',
    '12 path-a/b\n',
    '1e1 path=a\n',
    '5 a\n12 path=a/b\n',
    '11 size=-1\n',
    '13 size=1e99\n',
    '25 size=9007199254740993\n',
    '22 GNU.sparse.major=1\n',
  ])('%j is refused', (text) => {
    expect(() => read(text)).toThrow(ArchiveError);
  });

  test('a path that is not UTF-8 is refused', () => {
    const record = Buffer.concat([Buffer.from('10 path='), Buffer.of(0xff), Buffer.from('\n')]);
    expect(() => parsePaxRecords(record)).toThrow('UTF-8');
  });
});
