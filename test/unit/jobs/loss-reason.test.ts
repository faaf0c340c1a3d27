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

test.each<[string, BatchJob, string]>([
  [
    'a supervisor that was killed, whoever did it',
    ended(137),
    'The container ended before it could report: its process was killed (signal 9).',
  ],
  [
    'one that Batch says was killed for its memory',
    ended(137, 'OutOfMemoryError: Container killed due to memory usage'),
    'The container ran out of memory and was killed (signal 9). Batch says: OutOfMemoryError: Container killed due to memory usage',
  ],
  [
    'one that another signal ended',
    ended(143),
    'The container ended before it could report: its process was ended by SIGTERM (signal 15).',
  ],
  ['one that ended by itself', ended(3), 'The container ended before it could report (exit code 3).'],
])('the reason of %s says no more than is known', (_, job, reason) => {
  expect(lossReason(job)).toBe(reason);
});
