import { expect, test } from 'vitest';
import { isRetried, RetryStrategy } from '../../../infra/local/batch/jobs/job-record.ts';
import { attempts, evaluateOnExit } from '../../../infra/service/retry-rules.ts';

const strategy = RetryStrategy.parse({ attempts, evaluateOnExit });

test.each([
  ['a lost host', { statusReason: 'Host EC2 (instance i-0123) terminated.', exitCode: 143 }],
  ['Spot', { statusReason: 'Your Spot Task was interrupted.' }],
  ['the warning of Spot', { statusReason: 'Essential container in task exited', exitCode: 143 }],
  ['an image', { statusReason: 'Task failed to start', reason: 'CannotPullContainerError: timeout' }],
  ['Docker', { statusReason: 'Task failed to start', reason: 'DockerTimeoutError: Could not transition' }],
  ['Fargate', { statusReason: 'ResourceInitializationError: failed to validate logger args' }],
  ['an image on Fargate', { statusReason: 'CannotPullContainerError: pull image manifest has been retried' }],
  ['the network', { statusReason: 'Timeout waiting for network interface provisioning to complete.' }],
  ['the agent', { reason: 'AGENT' }],
])('an attempt that %s ended is repeated, but not for ever', (_, failure) => {
  expect(isRetried(strategy, 1, failure)).toBe(true);
  expect(isRetried(strategy, 2, failure)).toBe(true);
  expect(isRetried(strategy, 3, failure)).toBe(false);
});

const ended = 'Essential container in task exited';

test.each([
  ['itself', { statusReason: ended, exitCode: 1 }],
  ['a signal', { statusReason: ended, exitCode: 137 }],
  ['want of memory', { statusReason: ended, exitCode: 137, reason: 'OutOfMemoryError: Container killed' }],
  ['want of memory, said otherwise', { exitCode: 137, reason: 'OutOfMemoryError: Container killed' }],
])('an attempt that ended by %s is not repeated', (_, failure) => {
  expect(isRetried(strategy, 1, failure)).toBe(false);
});
