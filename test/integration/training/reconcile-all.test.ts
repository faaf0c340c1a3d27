import { expect, test } from 'vitest';
import { unfinishedJobs } from '../../../shared/data/jobs/job.ts';
import { readPosition } from '../../../shared/data/lists/watched-list.ts';
import { reconcileAll } from '../../../shared/jobs/reconciliation.ts';
import { emptyBatch, recordedJobs } from '../../support/recorded-jobs.ts';
import { unfinishedOf } from '../../support/unfinished.ts';

const batchOf = (describe: (ids: readonly string[]) => Promise<never[]>) => ({ ...emptyBatch, describe });

test('a pass that runs out of time is gone on with by the next one', async () => {
  const { service, settings } = await recordedJobs(12, { LIMIT_VCPUS: '100' });
  const seen = new Set<string>();
  // Batch says nothing of them that would end them.
  const running = batchOf(async (ids) => {
    for (const id of ids) seen.add(id);
    throw new Error('Batch is away');
  });
  const reconciler = { records: service.records, batch: running, settings, now: () => new Date() };
  const counts: number[] = [];
  for (let pass = 0; pass < 20 && seen.size < 12; pass += 1) {
    // One page, and then time is up.
    await reconcileAll(reconciler, () => false);
    counts.push(seen.size);
  }
  expect(seen.size).toBe(12);
  expect(counts.length).toBeLessThanOrEqual(unfinishedJobs.partitions.length);
  expect(await unfinishedOf(service.records)).toHaveLength(12);
});

test('a pass that was resumed ends where it began, and the one after begins at the front', async () => {
  const { service, settings } = await recordedJobs(12, { LIMIT_VCPUS: '100' });
  const asked: string[] = [];
  const running = batchOf(async (ids) => {
    asked.push(...ids);
    throw new Error('Batch is away');
  });
  const reconciler = { records: service.records, batch: running, settings, now: () => new Date() };
  let pages = 0;
  await reconcileAll(reconciler, () => {
    pages += 1;
    return pages < 5;
  });
  expect(await readPosition(service.records, unfinishedJobs)).toMatchObject({ pk: 'UNFINISHED_JOBS#4' });
  asked.length = 0;
  const { errors } = await reconcileAll(reconciler);
  expect(errors.length).toBeGreaterThan(0);
  expect(asked).toHaveLength(12);
  expect(new Set(asked).size).toBe(12);
  expect(await readPosition(service.records, unfinishedJobs)).toBeUndefined();
});

test('no more than four jobs are compared at once', async () => {
  const { service, settings } = await recordedJobs(10, { LIMIT_VCPUS: '100' });
  let running = 0;
  let most = 0;
  const records: typeof service.records = {
    ...service.records,
    async write(...writes) {
      running += 1;
      most = Math.max(most, running);
      await service.records.write(...writes);
      running -= 1;
    },
  };
  const { errors } = await reconcileAll({ records, batch: emptyBatch, settings, now: () => new Date() });
  expect(errors).toEqual([]);
  expect(most).toBeLessThanOrEqual(4);
  expect(await unfinishedOf(service.records)).toEqual([]);
});
