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

function watched(): { set: string[]; send(count: number): void } {
  const set: string[] = [];
  const room = new HeapRoom((flag) => set.push(flag));
  return {
    set,
    send(count) {
      for (let sent = 0; sent < count; sent += 1) room.note();
    },
  };
}

test('the heap has room from the request on that makes the service busy, until it is quiet again', () => {
  const { set, send } = watched();
  send(149);
  expect(set).toEqual([]);
  send(1);
  expect(set).toEqual(taken);
  vi.advanceTimersByTime(10_000);
  send(200);
  vi.advanceTimersByTime(10_000);
  expect(set).toEqual(taken);
  send(149);
  vi.advanceTimersByTime(10_000);
  expect(set).toEqual([...taken, ...given]);
  send(150);
  expect(set).toEqual([...taken, ...given, ...taken]);
});

test('requests that come slowly change nothing, and no timer is left once there are none', () => {
  const { set, send } = watched();
  for (let round = 0; round < 5; round += 1) {
    send(100);
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
