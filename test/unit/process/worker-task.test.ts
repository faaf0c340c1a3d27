import { expect, onTestFinished, test, vi } from 'vitest';
import { BoundedCache, WorkerQueue, WorkLimitError } from '../../../shared/process/worker-task.ts';
import { odd } from './odd-tasks.ts';

const address = { module: new URL('odd-tasks.ts', import.meta.url).href, name: 'odd' };

test('work is done on a thread without credentials, once for all who ask for the same', async () => {
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a secret');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await odd({ do: 'echo' })).toEqual({ do: 'echo', credentials: undefined });
  expect(await Promise.all([odd({ do: 'count' }), odd({ do: 'count' })])).toEqual([1, 1]);
  expect(await odd({ do: 'count' })).toBe(1);
});

test('the event loop turns while a thread works, and work beyond its time is ended and said to be too heavy', async () => {
  // The work that comes after has to start a thread in this time, too.
  const queue = new WorkerQueue(1_000, Number.POSITIVE_INFINITY);
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);

  await expect(queue.run(address, { do: 'spin' })).rejects.toThrow(WorkLimitError);

  clearInterval(timer);
  expect(turns).toBeGreaterThan(3);
  expect(await queue.run(address, { do: 'echo' })).toMatchObject({ do: 'echo' });
});

test('work that gets no turn on a busy machine is to be tried again, not said to be too heavy', async () => {
  const queue = new WorkerQueue(60_000, 100);

  await expect(queue.run(address, { do: 'wait' })).rejects.toMatchObject({
    kind: 'unavailable',
    retryAfterSeconds: 2,
  });
});

test('work beyond its memory ends its thread, not this process', async () => {
  await expect(odd({ do: 'fill' })).rejects.toMatchObject({ kind: 'too-large', message: 'Ask for less.' });
  await expect(odd({ do: 'fill' })).rejects.toMatchObject({ kind: 'too-large' });
  expect(await odd({ do: 'echo' })).toMatchObject({ do: 'echo' });
});

test('an error on the thread is one here, and the next work is done', async () => {
  await expect(odd({ do: 'throw' })).rejects.toThrow('odd as told');
  await expect(odd({ do: 'exit' })).rejects.toThrow('the worker thread ended');
  expect(await odd({ do: 'echo' })).toMatchObject({ do: 'echo' });
});

test('of too much work at once some is refused with 503', async () => {
  const queue = new WorkerQueue();
  const all = await Promise.allSettled(Array.from({ length: 20 }, () => queue.run(address, { do: 'echo' })));
  const refused = all.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect(all.length - refused.length).toBe(9);
  for (const reason of refused) expect(reason).toMatchObject({ kind: 'unavailable' });
});

test('a cache forgets what was not used for longest, and keeps nothing that is too large', () => {
  const cache = new BoundedCache<string>(100);
  for (const key of ['a', 'b', 'c', 'd']) cache.put(key, key, 25);
  expect(cache.get('a')).toBe('a');
  cache.put('e', 'e', 20);
  expect(['a', 'b', 'c', 'd', 'e'].map((key) => cache.get(key))).toEqual(['a', undefined, 'c', 'd', 'e']);
  cache.put('large', 'large', 26);
  expect(cache.get('large')).toBeUndefined();
});
