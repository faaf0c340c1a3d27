import { expect, test } from 'vitest';
import { listByPs, parsePsLine } from '../../../shared/host/portable/ps.ts';

test('a line of ps is read, blanks and all', () => {
  expect(parsePsLine('  501   1   501  1000   2048 Ss   00:01:02 Thu Nov 20 18:41:02 2025    ')).toEqual({
    pid: 501,
    ppid: 1,
    group: 501,
    session: 0,
    uid: 1000,
    startTime: 'Thu Nov 20 18:41:02 2025',
    residentBytes: 2048 * 1024,
    cpuSeconds: 62,
    isNamespaceInit: false,
  });
});

test.each(['  501   1   501  1000   0 Z    00:00:00 Thu Nov 20 18:41:02 2025', '', 'ps: illegal option'])(
  '%j is no running process',
  (line) => {
    expect(parsePsLine(line)).toBeNull();
  },
);

const own = `  ${process.pid}   1   501  1000   2048 Ss   00:01:02 Thu Nov 20 18:41:02 2025`;
const answering = (text: string) => async () => ({ text, pid: 7 });

test('a listing leaves out the ps that made it', async () => {
  const rows = await listByPs(
    answering(`${own}\n    7   1   501  1000   2048 R+   00:00:00 Thu Nov 20 18:41:03 2025\n`),
  );

  expect(rows.map(({ pid }) => pid)).toEqual([process.pid]);
});

test.each([
  [
    'a ps of another kind',
    'PID   USER     TIME  COMMAND\n    1 root      0:00 init',
    'begins with "PID   USER',
  ],
  ['a ps without start times', `  ${process.pid}   1   501  1000   2048 Ss   00:00:01 -`, 'begins with'],
  [
    'a ps that lists others only',
    '  501   1   501  1000   2048 Ss   00:01:02 Thu Nov 20 18:41:02 2025',
    'begins with "501',
  ],
  ['a ps that says nothing', '', 'begins with ""'],
])('%s is refused with what it answered', async (_, text, reason) => {
  await expect(listByPs(answering(text))).rejects.toThrow(reason);
});

test('ps is asked for one column at a time, because = ends the list of a POSIX -o', async () => {
  let asked: readonly string[] = [];

  await listByPs(async (args) => {
    asked = args;
    return { text: own, pid: 7 };
  });

  expect(asked.filter((arg) => arg.includes('='))).toEqual(
    ['pid', 'ppid', 'pgid', 'uid', 'rss', 'stat', 'time', 'lstart'].map((name) => `${name}=`),
  );
});
