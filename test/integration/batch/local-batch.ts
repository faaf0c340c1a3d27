import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchClient,
  DescribeJobsCommand,
  type JobDetail,
  SubmitJobCommand,
  type SubmitJobCommandInput,
} from '@aws-sdk/client-batch';
import { onTestFinished } from 'vitest';
import {
  type BatchServerOptions,
  type RunningBatch,
  startBatchServer,
} from '../../../infra/local/batch/batch-server.ts';
import type { BatchJobStateChangeEvent } from '../../../infra/local/batch/jobs/job-record.ts';
import { processStartTime } from '../../../shared/process/process-tree.ts';

import { credentials, optionsIn, region } from './server-options.ts';

export { credentials, region } from './server-options.ts';

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'batch-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

export function clientOf(url: string, given = credentials): BatchClient {
  const client = new BatchClient({ endpoint: url, region, credentials: given, maxAttempts: 1 });
  onTestFinished(() => client.destroy());
  return client;
}

export interface LocalBatch {
  folder: string;
  url: string;
  client: BatchClient;
  server: RunningBatch;
  events: BatchJobStateChangeEvent[];
  /** Submits a job of `once` to `wide`, unless told otherwise, and returns its id. */
  submit(command: readonly string[], more?: Partial<SubmitJobCommandInput>): Promise<string>;
  describe(id: string): Promise<JobDetail>;
  /** Waits until the job satisfies the condition; throws where it ends without. */
  until(id: string, condition: (job: JobDetail) => boolean): Promise<JobDetail>;
  ended(id: string): Promise<JobDetail>;
}

/** A server of its own for a test, ended with it. */
export async function startLocalBatch(options: Partial<BatchServerOptions> = {}): Promise<LocalBatch> {
  const folder = options.folder ?? (await temporaryFolder());
  const events: BatchJobStateChangeEvent[] = [];
  const deliver = async (event: BatchJobStateChangeEvent) => void events.push(event);
  const server = await startBatchServer({ ...optionsIn(folder), deliver, ...options });
  onTestFinished(() => server.close({ grace: 0 }));
  const client = clientOf(server.url);
  return { folder, url: server.url, server, events, client, ...conversation(client) };
}

const hasEnded = (status: JobDetail['status']): boolean => status === 'SUCCEEDED' || status === 'FAILED';

export function conversation(
  client: BatchClient,
): Pick<LocalBatch, 'submit' | 'describe' | 'until' | 'ended'> {
  async function describe(id: string): Promise<JobDetail> {
    const { jobs } = await client.send(new DescribeJobsCommand({ jobs: [id] }));
    return jobs![0]!;
  }
  async function until(id: string, condition: (job: JobDetail) => boolean): Promise<JobDetail> {
    for (;;) {
      const job = await describe(id);
      if (condition(job)) return job;
      const { status, statusReason } = job;
      // Nothing more will happen to it.
      if (hasEnded(status))
        throw new Error(`job ${id} is ${status} (${statusReason}), not what was waited for`);
      await sleep(15);
    }
  }
  return {
    describe,
    until,
    ended: (id) => until(id, ({ status }) => hasEnded(status)),
    async submit(command, more = {}) {
      const request = {
        jobName: 'a-job',
        jobQueue: 'wide',
        jobDefinition: 'once',
        ...(more.nodeOverrides === undefined && { containerOverrides: { command: [...command] } }),
        ...more,
      };
      return (await client.send(new SubmitJobCommand(request))).jobId!;
    },
  };
}

/** The command that runs this script in the shell. */
export const sh = (script: string): string[] => ['/bin/sh', '-c', script];

/** Waits until the condition holds. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(15);
}

/** Whether a process of this pid runs; one that is dead but not yet collected does not. */
export async function isRunning(pid: number): Promise<boolean> {
  return (await processStartTime(pid)) !== null;
}
