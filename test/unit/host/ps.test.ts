import { expect, test } from 'vitest';
import { parsePsLine } from '../../../shared/host/portable/ps.ts';

test('a line of ps is read, blanks and all', () => {
  expect(parsePsLine('  501   1   501  1000   2048 Ss   Thu Nov 20 18:41:02 2025    ')).toEqual({
    pid: 501,
    ppid: 1,
    group: 501,
    session: 0,
    uid: 1000,
    startTime: 'Thu Nov 20 18:41:02 2025',
    residentBytes: 2048 * 1024,
    isNamespaceInit: false,
  });
});

test.each(['  501   1   501  1000   0 Z    Thu Nov 20 18:41:02 2025', '', 'ps: illegal option'])(
  '%j is no running process',
  (line) => {
    expect(parsePsLine(line)).toBeNull();
  },
);
