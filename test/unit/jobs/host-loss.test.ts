import { expect, test } from 'vitest';
import { isRetried, RetryStrategy } from '../../../infra/local/batch/jobs/job-record.ts';
import { batchJob } from '../../../shared/aws/batch.ts';
import { isHostLost, maxLosses, retryRules } from '../../../shared/jobs/host-loss.ts';

const strategy = RetryStrategy.parse({ attempts: maxLosses, evaluateOnExit: retryRules });

interface Failure {
  statusReason?: string;
  reason?: string;
  exitCode?: number;
}

/** A job whose last attempt, of so many, failed so. */
const failed = ({ statusReason, ...container }: Failure, attempts: number, more: object = {}) =>
  batchJob({
    jobId: 'job',
    jobName: 'train-job',
    status: 'FAILED',
    statusReason,
    container,
    retryStrategy: { attempts: maxLosses },
    attempts: Array.from({ length: attempts }, () => ({ statusReason, container, startedAt: 1 })),
    ...more,
  })!;

test.each<[string, Failure]>([
  ['a lost host', { statusReason: 'Host EC2 (instance i-0123) terminated.', exitCode: 143 }],
  ['Spot', { statusReason: 'Your Spot Task was interrupted.' }],
  ['Spot, which killed it', { statusReason: 'Your Spot Task was interrupted.', exitCode: 137 }],
  ['the warning of Spot', { statusReason: 'Essential container in task exited', exitCode: 143 }],
  ['an image', { statusReason: 'Task failed to start', reason: 'CannotPullContainerError: timeout' }],
  ['Docker', { statusReason: 'Task failed to start', reason: 'DockerTimeoutError: Could not transition' }],
  ['Fargate', { statusReason: 'ResourceInitializationError: failed to validate logger args' }],
  ['an image on Fargate', { statusReason: 'CannotPullContainerError: pull image manifest has been retried' }],
  ['the network', { statusReason: 'Timeout waiting for network interface provisioning to complete.' }],
  ['the agent', { reason: 'AGENT' }],
])(
  'an attempt that %s ended is repeated by Batch, and its job after the last one by a new submission',
  (_, failure) => {
    expect(isRetried(strategy, 1, failure)).toBe(true);
    expect(isRetried(strategy, maxLosses - 1, failure)).toBe(true);
    expect(isRetried(strategy, maxLosses, failure)).toBe(false);
    expect(isHostLost(failed(failure, maxLosses))).toBe(true);
  },
);

const ended = 'Essential container in task exited';

test.each<[string, Failure]>([
  ['itself', { statusReason: ended, exitCode: 1 }],
  ['a signal', { statusReason: ended, exitCode: 137 }],
  ['want of memory', { statusReason: ended, exitCode: 137, reason: 'OutOfMemoryError: Container killed' }],
  ['want of memory, said otherwise', { exitCode: 137, reason: 'OutOfMemoryError: Container killed' }],
])('an attempt that ended by %s is not repeated', (_, failure) => {
  expect(isRetried(strategy, 1, failure)).toBe(false);
  expect(isHostLost(failed(failure, maxLosses))).toBe(false);
});

test('a job that somebody ended, that timed out or that Batch gave up early has not lost its host', () => {
  const lost = { statusReason: 'Host EC2 (instance i-0123) terminated.', exitCode: 143 };
  const timedOut = { statusReason: 'Job attempt duration exceeded timeout', exitCode: 143 };

  expect(isHostLost(failed(lost, maxLosses, { isTerminated: true }))).toBe(false);
  expect(isHostLost(failed(timedOut, maxLosses))).toBe(false);
  expect(isHostLost(failed(lost, maxLosses - 1))).toBe(false);
  expect(isHostLost(failed(lost, 0))).toBe(false);
});
