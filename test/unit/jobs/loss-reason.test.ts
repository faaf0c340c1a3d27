import { expect, test } from 'vitest';
import type { BatchJob } from '../../../shared/aws/batch.ts';
import { lossReason } from '../../../shared/jobs/reasons.ts';

const ended = (exitCode: number | undefined, reason?: string): BatchJob => ({
  id: 'job',
  name: 'train-job',
  status: 'FAILED',
  attempt: 1,
  attempts: [],
  exitCode,
  reason,
});

const lost: BatchJob = { ...ended(undefined, 'Host terminated.'), attempt: 12 };

test.each<[string, BatchJob, number | null, string]>([
  [
    'a supervisor that was killed, whoever did it',
    ended(137),
    null,
    'The container ended before it could report: its process was killed (signal 9).',
  ],
  [
    'one that Batch says was killed for its memory',
    ended(137, 'OutOfMemoryError: Container killed due to memory usage'),
    null,
    'The container ran out of memory and was killed (signal 9). Batch says: OutOfMemoryError: Container killed due to memory usage',
  ],
  [
    'one that another signal ended',
    ended(143),
    null,
    'The container ended before it could report: its process was ended by SIGTERM (signal 15).',
  ],
  [
    'a job whose hosts were lost',
    { ...lost, attempts: Array(12).fill({ startedAt: 1 }) },
    10,
    'It lost its host 10 times in a row without a new checkpoint or a metric at a later step, the maximum. Start a new job. Batch says: Host terminated.',
  ],
  [
    'one that got on and lost too many',
    { ...lost, attempts: Array(500).fill({ startedAt: 1 }) },
    3,
    'It lost its host 500 times, the maximum. Start a new job. Batch says: Host terminated.',
  ],
  ['one that ended by itself', ended(3), null, 'The container ended before it could report (exit code 3).'],
])('the reason of %s says no more than is known', (_, job, losses, reason) => {
  expect(lossReason(job, losses)).toBe(reason);
});
