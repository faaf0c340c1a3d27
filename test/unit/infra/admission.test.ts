import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Admission } from '../../../infra/local/gateway/admission.ts';
import { Askers } from '../../../infra/local/gateway/asker.ts';

const limits = { perSecond: 1000, burst: 1000, inFlight: 4, waiting: 8, parked: 2 };

/** Requests that end when they are told to. */
function bench() {
  const admission = new Admission(limits);
  const running: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (asker: string) =>
    admission
      .run(asker, async () => {
        running.push(asker);
        await new Promise<void>((resolve) => ends.push(resolve));
        running.splice(running.indexOf(asker), 1);
      })
      .then(
        () => 'served',
        () => 'busy',
      );
  const endFirst = async () => {
    ends.shift()?.();
    await nextTurn();
  };
  return { admission, running, ask, endFirst };
}

describe('the places of the gateway', () => {
  test('are all for one asker while nobody else waits', () => {
    const { running, ask } = bench();

    for (let at = 0; at < 6; at += 1) void ask('greedy');

    expect(running).toEqual(['greedy', 'greedy', 'greedy', 'greedy']);
  });

  test('are at most half for one asker while others wait, in turns', async () => {
    const { running, ask, endFirst } = bench();
    for (let at = 0; at < 9; at += 1) void ask('greedy');
    for (const asker of ['ada', 'bob', 'ada']) void ask(asker);

    for (let at = 0; at < 3; at += 1) await endFirst();

    expect(running.toSorted()).toEqual(['ada', 'bob', 'greedy', 'greedy']);
    await endFirst();
    expect(running.toSorted()).toEqual(['ada', 'ada', 'bob', 'greedy']);
  });

  test('are found by another asker where one has filled the line', async () => {
    const { ask, endFirst, admission } = bench();
    const greedy = Array.from({ length: 12 }, () => ask('greedy'));

    admission.admit('light');
    const light = ask('light');

    await endFirst();
    await endFirst();
    expect(await Promise.race([light, 'not served'])).toBe('not served');
    expect(await greedy.at(-1)).toBe('busy');
    expect(() => admission.admit('greedy')).not.toThrow();
    for (let at = 0; at < 12; at += 1) await endFirst();
    expect(await light).toBe('served');
    expect((await Promise.all(greedy)).filter((outcome) => outcome === 'busy')).toHaveLength(1);
  });
});

describe('an asker', () => {
  const token = [['Authorization', 'Bearer a']] as const;

  test('is the account once the credentials are known, else the address', () => {
    const askers = new Askers();
    expect(askers.of(token, '10.0.0.1')).toBe('10.0.0.1');

    askers.note(token, 'ada');

    expect(askers.of(token, '10.0.0.1')).toBe('ada');
    expect(askers.of([['authorization', 'Bearer made up']], '10.0.0.1')).toBe('10.0.0.1');
    expect(askers.of([], '10.0.0.1')).toBe('10.0.0.1');
  });

  test('is the address again once the credentials are refused', () => {
    const askers = new Askers();
    askers.note(token, 'ada');

    askers.note(token, undefined);

    expect(askers.of(token, '10.0.0.1')).toBe('10.0.0.1');
  });
});

describe('a request that waits for news', () => {
  /** Requests that wait until their news comes or the service ends. */
  function follow(admission: Admission, asker: string) {
    const news = Promise.withResolvers<void>();
    const waited = admission.run(asker, (park) =>
      park(async (closing) => {
        const closed = new Promise<void>((resolve) => closing.addEventListener('abort', () => resolve()));
        await Promise.race([news.promise, closed]);
      }),
    );
    return { waited, tell: news.resolve };
  }

  test('has no place meanwhile, and takes one again', async () => {
    const { admission, ask, running } = bench();
    const followers = ['ada', 'bob', 'ada', 'bob', 'eve'].map((asker) => follow(admission, asker));
    await nextTurn();

    for (let at = 0; at < 4; at += 1) void ask('greedy');
    await nextTurn();

    expect(running).toHaveLength(4);
    let hasAnswered = false;
    void followers[0]?.waited.then(() => {
      hasAnswered = true;
    });
    followers[0]?.tell();
    await nextTurn();
    expect(hasAnswered).toBe(false);
  });

  test('waits only where its asker has few that wait', async () => {
    const { admission } = bench();
    const first = [follow(admission, 'ada'), follow(admission, 'ada')];
    await nextTurn();

    expect(await follow(admission, 'ada').waited).toBe(false);

    first[0]?.tell();
    expect(await first[0]?.waited).toBe(true);
    const next = follow(admission, 'ada');
    next.tell();
    expect(await next.waited).toBe(true);
  });

  test('ends with the service', async () => {
    const { admission } = bench();
    const { waited } = follow(admission, 'ada');
    await nextTurn();

    admission.close();

    expect(await waited).toBe(true);
    expect(await follow(admission, 'ada').waited).toBe(false);
  });
});
