import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { HeapRoom } from '../../../../../infra/local/start/heap-room.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const taken = ['--no-memory-saver-mode', '--no-optimize-for-size'];
const given = ['--memory-saver-mode', '--optimize-for-size'];

/** A room that counts 5 ms of CPU time for each request. */
function watched(): { set: string[]; send(count: number): void; work(milliseconds: number): void } {
  const set: string[] = [];
  let spent = 0;
  const room = new HeapRoom(
    (flag) => set.push(flag),
    () => spent,
  );
  return {
    set,
    send(count) {
      for (let sent = 0; sent < count; sent += 1) {
        room.note();
        spent += 5;
      }
    },
    work(milliseconds) {
      spent += milliseconds;
    },
  };
}

test('the heap has room from the request on that finds the service busy, until it is quiet again', () => {
  const { set, send } = watched();
  send(100);
  expect(set).toEqual([]);
  send(1);
  expect(set).toEqual(taken);
  vi.advanceTimersByTime(10_000);
  send(200);
  vi.advanceTimersByTime(10_000);
  expect(set).toEqual(taken);
  send(99);
  vi.advanceTimersByTime(10_000);
  expect(set).toEqual([...taken, ...given]);
  send(101);
  expect(set).toEqual([...taken, ...given, ...taken]);
});

test('a few requests that take long make the service as busy as many that are short', () => {
  const { set, send, work } = watched();
  send(1);
  work(400);
  send(1);
  expect(set).toEqual([]);
  work(100);
  send(1);
  expect(set).toEqual(taken);
});

test('what the service did before its first request does not count', () => {
  const { set, send, work } = watched();
  work(5_000);
  send(1);
  expect(set).toEqual([]);
});

test('requests that come slowly change nothing, and no timer is left once there are none', () => {
  const { set, send } = watched();
  for (let round = 0; round < 5; round += 1) {
    send(60);
    vi.advanceTimersByTime(10_000);
  }
  expect(set).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test('npm start begins with the flags that are taken back, one of them only once the heap has its size', async () => {
  const manifest: { scripts: { start: string } } = JSON.parse(await readFile('package.json', 'utf8'));
  expect(manifest.scripts.start).toContain(' --memory-saver-mode ');
  expect(manifest.scripts.start).not.toContain('--optimize-for-size');
  expect(await readFile('infra/local/start/launch.mjs', 'utf8')).toContain(
    "setFlagsFromString('--optimize-for-size');",
  );
});
