import { beforeAll, describe, expect, test } from 'vitest';
import { event as purge } from '../../../functions/events/purge.event.ts';
import { event as reconcile } from '../../../functions/events/reconcile.event.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { closedAccounts, recordClosedAccount } from '../../../shared/data/accounts/closed-account.ts';
import { unfinishedJobs } from '../../../shared/data/jobs/job.ts';
import { waitingLines } from '../../../shared/data/jobs/waiting-line.ts';
import { scheduleNextPass, type WatchedList } from '../../../shared/data/lists/watched-list.ts';
import {
  listPurges,
  type Purge,
  recordPurge,
  retainedList,
  unfinishedPurges,
} from '../../../shared/data/projects/purge.ts';
import { sweepTurns } from '../../../shared/data/sweeps/sweep-turn.ts';
import { type TestService, testService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await testService();
});

const listOf = (...partitions: [string, ...string[]]): WatchedList<'records'> => ({
  table: 'records',
  partitions,
});
const looks = async ({ partitions: [pk] }: WatchedList) =>
  (await service.records.query({ pk })).items.map(({ looked_at = 0 }) => looked_at);

describe('whoever works a list off and asks to come again', () => {
  test('changes nothing where the list is empty', async () => {
    const list = listOf(`LIST#${newId()}`);
    await scheduleNextPass(service.records, list);
    expect(await looks(list)).toEqual([]);
  });

  test('changes one item each time, so that the stream tells of the list', async () => {
    const list = listOf(`LIST#${newId()}`);
    for (const sk of ['a', 'b'])
      await service.records.write({ put: { pk: list.partitions[0], sk }, if: { exists: false } });
    await scheduleNextPass(service.records, list);
    await scheduleNextPass(service.records, list);
    expect(await looks(list)).toEqual([2, 0]);
  });

  test('takes the next item where the first is finished meanwhile', async () => {
    const list = listOf(`LIST#${newId()}`);
    const key = (sk: string) => ({ pk: list.partitions[0], sk });
    for (const sk of ['a', 'b']) await service.records.write({ put: key(sk), if: { exists: false } });
    let hasEnded = false;
    const { records } = service;
    const racing: typeof records = {
      ...records,
      async query(query) {
        const page = await records.query(query);
        if (!hasEnded) await records.write({ delete: key('a') });
        hasEnded = true;
        return page;
      },
    };
    await scheduleNextPass(racing, list);
    expect((await records.query({ pk: list.partitions[0] })).items).toEqual([
      expect.objectContaining({ sk: 'b', looked_at: 1 }),
    ]);
  });

  test('leaves items that can still be read', async () => {
    const value: Purge = {
      purge_id: newId(),
      created_at: new Date().toISOString(),
      target: { partitions: [], prefixes: [] },
      again_at: null,
    };
    await service.records.write(recordPurge(value));
    await scheduleNextPass(service.records, unfinishedPurges);
    expect((await listPurges(service.records, undefined)).items).toContainEqual(value);
  });
});

test('tasks watch the lists on which the work is written down', () => {
  expect(reconcile.watches).toEqual([unfinishedJobs, waitingLines, sweepTurns]);
  expect(purge.watches).toEqual([closedAccounts, unfinishedPurges, retainedList]);
  const write = recordClosedAccount({ user_id: newId(), closed_at: new Date().toISOString() });
  expect('put' in write && write.put.pk).toBe(closedAccounts.partitions[0]);
});
