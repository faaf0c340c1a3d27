import { ulid } from 'ulid';
import { expect, test } from 'vitest';
import { event as purge } from '../../../functions/events/purge.event.ts';
import { event as reconcile } from '../../../functions/events/reconcile.event.ts';
import { createLogger } from '../../../shared/core/log.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import { closedAccountKey, recordClosedAccount } from '../../../shared/data/accounts/closed-account.ts';
import { experimentKey } from '../../../shared/data/experiments/experiment.ts';
import { unfinishedKey } from '../../../shared/data/jobs/job.ts';
import { type Purge, purgeKey, recordPurge } from '../../../shared/data/projects/purge.ts';
import type { Key, TableName, TableWriter } from '../../../shared/data/table/table.ts';
import { emptyBatch, recordedJobs } from '../../support/recorded-jobs.ts';
import { type TestService, testService } from '../../support/service.ts';
import { unfinishedOf } from '../../support/unfinished.ts';

/** What a pass receives, with a count of its writes and the lines of its log. */
function passOf({ records, accounts, environment }: TestService) {
  const lines: Record<string, unknown>[] = [];
  let writes = 0;
  const counted = <N extends TableName>(table: TableWriter<N>): TableWriter<N> => ({
    ...table,
    async write(...given) {
      writes += 1;
      await table.write(...given);
    },
  });
  const context = {
    records: counted(records),
    accounts: counted(accounts),
    keys: accounts,
    batch: emptyBatch,
    objects: undefined as never,
    settings: readSettings(environment),
    now: () => new Date(),
    log: createLogger('info', (line) => lines.push(JSON.parse(line))),
  };
  return { context, lines, writes: () => writes };
}

const damage = { set: { schema_version: 99 } };
const repair = { set: { schema_version: 0 } };
const reasonOf = async (table: TableWriter<TableName>, key: Key) =>
  (await table.get(key))?.['set_aside_reason'];

test('an unreadable job is set aside once, keeps no other from its turn, and is taken up when it can be read', async () => {
  const { service, project_id, experiments } = await recordedJobs(3);
  const [first] = experiments;
  const subject = experimentKey(project_id, first!.experiment_id);
  const row = unfinishedKey(first!.experiment_id);
  await service.records.write({ update: subject, change: damage });
  const pass = passOf(service);
  await reconcile.run(undefined, pass.context);
  expect((await unfinishedOf(service.records)).map(({ job_id }) => job_id)).toEqual([first!.experiment_id]);
  expect(await reasonOf(service.records, row)).toMatch(/schema version 99 is newer/);
  const key = `${row.pk}/${row.sk}`;
  expect(pass.lines).toMatchObject([{ code: 'set-aside', level: 'error', key }]);

  const later = passOf(service);
  await reconcile.run(undefined, later.context);
  expect(later.lines).toEqual([]);
  expect(later.writes()).toBe(0);

  await service.records.write({ update: subject, change: repair });
  await reconcile.run(undefined, passOf(service).context);
  expect(await unfinishedOf(service.records)).toEqual([]);
});

test('an unreadable row of the list of jobs is set aside', async () => {
  const { service, experiments } = await recordedJobs(2);
  const row = unfinishedKey(experiments[0]!.experiment_id);
  await service.records.write({ update: row, change: damage });
  const pass = passOf(service);
  await reconcile.run(undefined, pass.context);
  expect(pass.lines).toMatchObject([{ code: 'set-aside', key: `${row.pk}/${row.sk}` }]);
  expect(await unfinishedOf(service.records)).toEqual([]);
  expect(await reasonOf(service.records, row)).toMatch(/99 is newer/);
});

const purgeOf = (more: Partial<Purge> = {}): Purge => ({
  purge_id: ulid().toLowerCase(),
  created_at: new Date().toISOString(),
  target: { partitions: [{ pk: `CONFIGS#${ulid()}` }], prefixes: [] },
  again_at: null,
  ...more,
});

test('an unreadable purge is set aside while others are done, one of an unreadable experiment among them', async () => {
  const { service, project_id, experiments } = await recordedJobs(1);
  const subject = experimentKey(project_id, experiments[0]!.experiment_id);
  const [bad, ofUnreadable, good] = [purgeOf(), purgeOf({ project_id }), purgeOf()];
  await service.records.write(recordPurge(bad), recordPurge(ofUnreadable), recordPurge(good));
  await service.records.write({ update: purgeKey(bad.purge_id), change: damage });
  await service.records.write({ update: subject, change: damage });
  const pass = passOf(service);
  await purge.run(undefined, pass.context);
  const { items } = await service.records.query({ pk: 'PURGES' });
  expect(items.map(({ sk }) => sk)).toEqual([bad.purge_id]);
  expect(pass.lines.map(({ code }) => code)).toEqual(['set-aside']);

  const later = passOf(service);
  await purge.run(undefined, later.context);
  expect(later.lines).toEqual([]);
  expect(later.writes()).toBe(0);

  await service.records.write({ update: purgeKey(bad.purge_id), change: repair });
  await purge.run(undefined, passOf(service).context);
  expect((await service.records.query({ pk: 'PURGES' })).items).toEqual([]);
});

test('an unreadable closed account is set aside while others are cleared', async () => {
  const service = await testService();
  const ids = [ulid().toLowerCase(), ulid().toLowerCase()] as const;
  for (const user_id of ids)
    await service.accounts.write(recordClosedAccount({ user_id, closed_at: '2026-01-02T03:04:05.000Z' }));
  await service.accounts.write({ update: closedAccountKey(ids[0]), change: damage });
  const pass = passOf(service);
  await purge.run(undefined, {
    ...pass.context,
    objects: { list: async () => ({ objects: [], next: undefined }), delete: async () => {} } as never,
  });
  const { items } = await service.accounts.query({ pk: 'CLOSED_ACCOUNTS' });
  expect(items.map(({ sk }) => sk)).toEqual([ids[0]]);
  expect(pass.lines).toMatchObject([{ code: 'set-aside', key: `CLOSED_ACCOUNTS/${ids[0]}` }]);
});
