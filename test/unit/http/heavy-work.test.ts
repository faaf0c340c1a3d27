import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { breathe, throwIfStopped } from '../../../shared/core/stop-signal.ts';
import { HeavyWork } from '../../../shared/http/pipeline/heavy-work.ts';

const limits = { atOnce: 2, waiting: 3, perCaller: 4 };

/** Pieces of work that end when they are told to. */
function bench() {
  const heavy = new HeavyWork(limits);
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const ask = (key: string, { caller = key, signal = new AbortController().signal } = {}) => {
    const answer = heavy.run({ key, caller, signal }, () => {
      begun.push(key);
      const end = Promise.withResolvers<string>();
      ends.set(key, end);
      return end.promise;
    });
    answer.catch(() => {});
    return answer;
  };
  const end = async (key: string, value = key) => {
    ends.get(key)?.resolve(value);
    await nextTurn();
  };
  return { heavy, begun, ask, end };
}

describe('heavy work', () => {
  test('is done a few pieces at a time, first come, first served', async () => {
    const { begun, ask, end } = bench();
    for (const key of ['a', 'b', 'c', 'd']) void ask(key);
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
    await end('a');
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
  });

  test('of a caller with a piece in progress begins after that of others', async () => {
    const { begun, ask, end } = bench();
    for (const key of ['a', 'b', 'c']) void ask(key, { caller: 'greedy' });
    void ask('d', { caller: 'light' });

    await end('a');

    expect(begun).toEqual(['a', 'b', 'd']);
  });

  test('of equal requests is done once for all that came before it began', async () => {
    const { begun, ask, end } = bench();
    const first = ask('a', { caller: '1' });
    const others = ['2', '3', '4', '5', '6'].map((caller) => ask('a', { caller }));
    expect(begun).toEqual(['a']);
    await end('a', 'before');
    expect(await first).toBe('before');
    // What was written while the first was under way is in the answer of all others.
    expect(begun).toEqual(['a', 'a']);
    await end('a', 'after');
    expect(await Promise.all(others)).toEqual(Array.from(others, () => 'after'));
  });

  test('beyond the limits is refused at once: of one caller 429, of all 503, with the time to come again', async () => {
    const { ask } = bench();
    for (const key of ['a', 'b', 'c', 'd']) void ask(key, { caller: 'ada' });
    await expect(ask('e', { caller: 'ada' })).rejects.toMatchObject({
      kind: 'too-many-requests',
      retryAfterSeconds: 2,
    });
    void ask('e', { caller: 'bob' });
    await expect(ask('f', { caller: 'bob' })).rejects.toMatchObject({
      kind: 'unavailable',
      retryAfterSeconds: 2,
    });
    await expect(Promise.race([ask('e', { caller: 'cleo' }), 'shares a place'])).resolves.toBe(
      'shares a place',
    );
  });

  test('stops at its next read when nobody waits any more, and not before', async () => {
    const heavy = new HeavyWork(limits);
    const [one, other] = [new AbortController(), new AbortController()];
    let [reads, end] = [0, ''];
    const work = async () => {
      try {
        for (;;) {
          throwIfStopped();
          reads += 1;
          await nextTurn();
        }
      } catch (error) {
        end = String(error);
        throw error;
      }
    };
    const blocker = Promise.withResolvers<void>();
    void heavy.run({ key: 'x', caller: 'x', signal: new AbortController().signal }, () => blocker.promise);
    void heavy.run({ key: 'y', caller: 'y', signal: new AbortController().signal }, () => blocker.promise);
    const answers = [one, other].map(({ signal }) => heavy.run({ key: 'a', caller: 'ada', signal }, work));
    const settled = Promise.allSettled(answers);
    blocker.resolve();
    while (reads < 3) await nextTurn();
    one.abort();
    await expect(answers[0]).rejects.toMatchObject({ kind: 'unavailable' });
    const before = reads;
    while (reads < before + 3) await nextTurn();
    other.abort();
    await settled;
    await nextTurn();
    const stoppedAt = reads;
    await nextTurn();
    expect([reads, end]).toEqual([stoppedAt, expect.stringContaining('abandoned')]);
  });

  test('that waits is not begun when nobody waits for it any more, and its place is free again', async () => {
    const { begun, ask, end } = bench();
    const gone = new AbortController();
    void ask('a');
    void ask('b');
    const waiting = ask('c', { caller: 'ada', signal: gone.signal });
    gone.abort();
    await expect(waiting).rejects.toMatchObject({ kind: 'unavailable' });
    await end('a');
    await end('b');
    expect(begun).toEqual(['a', 'b']);
    await expect(ask('c', { signal: gone.signal })).rejects.toMatchObject({ kind: 'unavailable' });
    expect(begun).toEqual(['a', 'b']);
  });

  test('that fails fails for all who share it, and the next begins', async () => {
    const heavy = new HeavyWork(limits);
    const signal = new AbortController().signal;
    const fail = () =>
      heavy.run({ key: 'a', caller: 'a', signal }, () => Promise.reject(new Error('broken')));
    await expect(fail()).rejects.toThrow('broken');
    await expect(fail()).rejects.toThrow('broken');
    await expect(heavy.run({ key: 'b', caller: 'a', signal }, async () => 'done')).resolves.toBe('done');
  });

  test('lets others have their turn while it reads what is in memory', async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    for (let round = 0; turns < 3 && round < 1e6; round += 1) await breathe();
    clearInterval(timer);
    expect(turns).toBe(3);
  });
});
