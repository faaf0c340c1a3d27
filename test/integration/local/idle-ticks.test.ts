import { ulid } from 'ulid';
import { beforeAll, describe, expect, test } from 'vitest';
import { event as archive } from '../../../functions/events/archive.event.ts';
import { event as notify } from '../../../functions/events/notify.event.ts';
import { event as purge } from '../../../functions/events/purge.event.ts';
import { event as reconcile } from '../../../functions/events/reconcile.event.ts';
import { event as schedules } from '../../../functions/events/schedules.event.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { deliveryLanes } from '../../../shared/data/hooks/delivery-lane.ts';
import { userLimitKey } from '../../../shared/data/jobs/job.ts';
import { lineKey, waitingLines } from '../../../shared/data/jobs/waiting-line.ts';
import { announce, retain } from '../../../shared/data/projects/purge.ts';
import { putTime } from '../../../shared/data/schedules/schedule-time.ts';
import type { Item, Write } from '../../../shared/data/table/table.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { type TestService, testService } from '../../support/service.ts';
import { tableRequests } from '../../support/table-requests.ts';

const id = () => ulid().toLowerCase();
const now = new Date();
/** A user whose jobs wait. */
const inLine = id();
const later = new Date(now.getTime() + 3_600_000).toISOString();

/** Records that nothing is due of, by kind. */
const kinds: Readonly<Record<string, (count: number) => Write[]>> = {
  'jobs that wait in line': (count) => waitingLine(inLine, count),
  'receivers of hooks that are away': (count) =>
    many(count, () => {
      const hook_id = id();
      return {
        ...item(deliveryLanes.partitions[0], hook_id, 'delivery-lane'),
        ...{ project_id: id(), hook_id, next_at: later, failures: 9, version: 1 },
      };
    }),
  'schedules that are not due': (count) =>
    Array.from({ length: count }, () => {
      const schedule_id = id();
      return putTime({ at: later, time_id: schedule_id, project_id: id(), schedule_id });
    }),
  'announced uploads': (count) =>
    Array.from({ length: count }, () => {
      const object = `projects/${id()}/artifact`;
      return announce({ of: 'artifact', object, upload_id: null }, now);
    }),
  'records marked as deleted': (count) =>
    Array.from({ length: count / 2 }, () =>
      retain({ project_id: id(), experiment_id: id(), deleted_at: now.toISOString() }),
    ).flat(),
  'sweeps, runs with rules, served models, environments': (count) =>
    many(count, (index) => {
      const [pk = '', type = ''] = elsewhere[index % elsewhere.length] ?? [];
      return item(pk, id(), type);
    }),
};

/** Lists that no tick reads. */
const elsewhere = [
  ['SWEEPS#p', 'sweep'],
  ['EXPERIMENTS#p', 'experiment'],
  ['SERVING', 'serving'],
  ['ENVIRONMENT_PACKS#p', 'environment-pack'],
];

const item = (pk: string, sk: string, record_type: string): Item => ({
  pk,
  sk,
  record_type,
  schema_version: 0,
});

const many = (count: number, make: (index: number) => Item): Write[] =>
  Array.from({ length: count }, (_, index) => ({ put: make(index) }));

/** A line of a user who has all jobs that a user may have. */
function waitingLine(user_id: string, waiting: number): Write[] {
  const { pk, sk } = lineKey(user_id);
  const [row, limit] = [`OWN#${user_id}`, userLimitKey(user_id)];
  const line = { line_id: user_id, user_id, kind: 'vcpus', waiting, first: 1, next: waiting + 1 };
  return [
    { put: { ...item(limit.pk, limit.sk, 'limit'), unfinished: 1_000 } },
    { put: { ...item(pk, sk, 'waiting-line'), ...line, gaps: [], turn: 0, row, changes: 0 } },
    { put: { ...item(waitingLines.partitions[0], row, 'line-row'), line_id: user_id } },
    ...many(waiting, (index) => item(pk, `JOB#${String(index + 1).padStart(12, '0')}`, 'waiting-job')),
  ];
}

describe('a tick of a machine on which nothing is due', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await testService({ BATCH_ENDPOINT: 'http://127.0.0.1:9' });
  });

  const tick = () => {
    const { environment } = service;
    const started = { repeats: true };
    return tableRequests(service, readProject, async () => {
      for (const run of [reconcile, purge, notify, schedules].map((one) =>
        taskHandler(one as typeof purge, environment),
      ))
        await run(started);
      await taskHandler(archive, environment)({ ...started, seconds: 5 });
    });
  };
  const record = async (writes: readonly Write[]) => {
    for (let from = 0; from < writes.length; from += 100)
      await service.records.write(...writes.slice(from, from + 100));
  };

  test.each(Object.entries(kinds))('costs as much with 1,000 %s as with 10', async (_, some) => {
    await record(some(10));
    const few = (await tick()).flat().sort();
    await record(some(1_000));

    const many = (await tick()).flat().sort();

    expect(many).toEqual(few);
    expect(few.filter((request) => request.startsWith('TransactWrite'))).toEqual([]);
  });
});
