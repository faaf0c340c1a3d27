import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { BatchJobStateChangeEvent } from '../../../infra/local/batch/jobs/job-record.ts';
import { eventually, startLocalBatch } from './local-batch.ts';

const statusesOf = (events: readonly BatchJobStateChangeEvent[], id: string) =>
  events.filter(({ detail }) => detail.jobId === id).map(({ detail }) => detail.status);

test('every change of state after the submission is told as EventBridge tells it', async () => {
  const { submit, ended, events } = await startLocalBatch();
  const first = await submit(['/bin/true']);
  const second = await submit(['/bin/false'], { dependsOn: [{ jobId: first }] });
  await ended(second);
  await eventually(() => statusesOf(events, second).includes('FAILED'));
  const run = ['RUNNABLE', 'STARTING', 'RUNNING'];
  expect(statusesOf(events, first)).toEqual([...run, 'SUCCEEDED']);
  expect(statusesOf(events, second)).toEqual(['PENDING', ...run, 'FAILED']);
  const arn = `arn:aws:batch:eu-central-1:000000000000:job/${second}`;
  const last = events.findLast(({ detail }) => detail.jobId === second)!;
  expect(last).toEqual({
    version: '0',
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    'detail-type': 'Batch Job State Change',
    source: 'aws.batch',
    account: '000000000000',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    region: 'eu-central-1',
    resources: [arn],
    detail: expect.objectContaining({ jobArn: arn, jobId: second, jobName: 'a-job', status: 'FAILED' }),
  });
  expect(last.detail.attempts).toMatchObject([{ container: { exitCode: 1 } }]);
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
});

test('a delivery that fails is repeated and holds up no other', async () => {
  const told: BatchJobStateChangeEvent[] = [];
  const refused = new Set<string>();
  const { submit, ended } = await startLocalBatch({
    deliver: (event) => {
      if (event.detail.status === 'STARTING' && !refused.has(event.id)) {
        refused.add(event.id);
        throw new Error('not now'); // before there is a promise, even
      }
      told.push(event);
      return Promise.resolve();
    },
  });
  const id = await submit(['/bin/true']);
  await ended(id);
  await eventually(() => statusesOf(told, id).includes('STARTING'));
  expect(statusesOf(told, id).sort()).toEqual(['RUNNABLE', 'RUNNING', 'STARTING', 'SUCCEEDED']);
  expect(refused.size).toBe(1);
});

test('what could not be delivered before the server ended is delivered by the next', async () => {
  const { folder, server, submit, ended } = await startLocalBatch({
    deliver: async ({ detail }) => {
      if (detail.status === 'SUCCEEDED') throw new Error('out of order');
    },
  });
  const id = await submit(['/bin/true']);
  await ended(id);
  await server.close();
  const { events } = await startLocalBatch({ folder });
  await eventually(() => statusesOf(events, id).includes('SUCCEEDED'));
  const file = join(folder, 'jobs', `${id}.json`);
  await eventually(async () => JSON.parse(await readFile(file, 'utf8')).events.length === 0);
  expect(new Set(statusesOf(events, id))).toContain('SUCCEEDED');
});
