import { beforeEach, expect, test } from 'vitest';
import { runAlone } from '../../../functions/events/run-alone.ts';
import { createLogger } from '../../../shared/core/log.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { findPass } from '../../../shared/data/lists/pass-lease.ts';
import type { WatchedList } from '../../../shared/data/lists/watched-list.ts';
import { type TestService, testService } from '../../support/service.ts';

let service: TestService;
let clock: number;
let codes: string[];
beforeEach(async () => {
  service = await testService();
  clock = Date.UTC(2026, 0, 2);
  codes = [];
});

/** A task that watches a list with one row, and one whose rows expire. */
async function watching() {
  const [list, expiring] = [`LIST#${newId()}`, `EXPIRING#${newId()}`];
  for (const pk of [list, expiring]) await service.records.write({ put: { pk, sk: 'a' } });
  const watches: WatchedList[] = [
    { table: 'records', partitions: [list] },
    { table: 'records', partitions: [expiring], startsByExpiry: true },
  ];
  const looks = async () =>
    Promise.all(
      [list, expiring].map(async (pk) => (await service.records.get({ pk, sk: 'a' }))?.['looked_at'] ?? 0),
    );
  return { task: { name: `task-${newId()}`, watches, runtime: { timeout: 60 } }, looks };
}

const context = () => ({
  records: service.records,
  accounts: service.accounts,
  now: () => new Date(clock),
  log: createLogger('info', (line) => codes.push(JSON.parse(line).code)),
});

test('of invocations at the same time one runs the pass, and the lists of the others start a later one', async () => {
  const { task, looks } = await watching();
  let passes = 0;
  const ended = Promise.withResolvers<void>();
  const pass = () => {
    passes += 1;
    return ended.promise;
  };

  const first = runAlone(context(), task, pass);
  await expect.poll(() => passes).toBe(1);
  const before = await looks();
  await Promise.all([runAlone(context(), task, pass), runAlone(context(), task, pass)]);
  ended.resolve();
  await first;

  expect(passes).toBe(1);
  expect(codes).toEqual(['pass-skipped', 'pass-skipped']);
  expect(before).toEqual([1, 0]);
  expect(await looks()).toEqual([3, 2]);
  expect(await findPass(service.records, task.name)).toBeUndefined();
});

test('the lease of a killed pass expires with the time of its function', async () => {
  const { task } = await watching();
  let passes = 0;
  const pass = async () => {
    passes += 1;
  };
  void runAlone(context(), task, () => new Promise(() => undefined));
  await expect.poll(() => findPass(service.records, task.name)).toBeDefined();

  clock += 59_000;
  await runAlone(context(), task, pass);
  const early = passes;
  clock += 2_000;
  await runAlone(context(), task, pass);

  expect([early, passes]).toEqual([0, 1]);
});

test('a pass that fails waits for the next one, and raises its error after two hours of failures', async () => {
  const { task, looks } = await watching();
  const fail = async () => {
    throw new Error('Batch is away');
  };

  await runAlone(context(), task, fail);
  // Its event is over. What has expired would wait for the next expiry, maybe for ever.
  expect(await looks()).toEqual([1, 1]);
  clock += 7_199_000;
  await runAlone(context(), task, fail);
  clock += 1_000;
  await expect(runAlone(context(), task, fail)).rejects.toThrow('Batch is away');
  await runAlone(context(), task, async () => undefined);
  await runAlone(context(), task, fail);

  expect(codes).toEqual(['pass-failed', 'pass-failed', 'pass-failed']);
});
