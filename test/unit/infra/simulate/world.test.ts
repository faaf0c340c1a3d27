import { expect, test } from 'vitest';
import { VirtualClock } from '../../../proofs/simulate/virtual-clock.ts';
import { World } from '../../../proofs/simulate/world.ts';

test('each world has tables and limits of its own, also of the same options', async () => {
  const clock = new VirtualClock();
  const [first, second] = [new World(clock, {}, () => {}), new World(clock, {}, () => {})];
  const made = first.member('developer', 0);
  await clock.runUntil(clock.now + 10_000);
  expect(await made).toMatchObject({ user: { username: 'user-0' } });
  expect(first.meter.uses()).not.toEqual([]);
  expect(second.meter.uses()).toEqual([]);
});
