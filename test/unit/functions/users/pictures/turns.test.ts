import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { turns } from '../../../../../functions/users/pictures/turns.ts';

test('one works at a time, in the order in which they came, whatever becomes of the others', async () => {
  const takeTurn = turns(10);
  const seen: string[] = [];
  const work = (name: string) => async () => {
    seen.push(`${name} begins`);
    await setImmediate();
    seen.push(`${name} ends`);
    if (name === 'b') throw new Error('b failed');
    return name;
  };
  const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((name) => takeTurn(work(name))));
  expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('who finds too many waiting is told so at once, and those after are served again', async () => {
  const takeTurn = turns(2);
  const gate = Promise.withResolvers<void>();
  const works = takeTurn(() => gate.promise);
  await setImmediate();
  const waiting = [takeTurn(async () => 1), takeTurn(async () => 2)];
  await expect(takeTurn(async () => 3)).rejects.toMatchObject({
    kind: 'unavailable',
    retryAfterSeconds: 5,
  });
  gate.resolve();
  expect(await Promise.all([works, ...waiting])).toEqual([undefined, 1, 2]);
  expect(await takeTurn(async () => 4)).toBe(4);
});
