import { expect, test } from 'vitest';
import { isRetried, RetryStrategy } from '../../../../../infra/local/batch/jobs/job-record.ts';

const rules = RetryStrategy.parse({
  attempts: 3,
  evaluateOnExit: [
    { action: 'retry', onStatusReason: 'Host EC2*' },
    { action: 'RETRY', onExitCode: '7', onReason: 'Out*' },
    { action: 'EXIT', onExitCode: '1*' },
  ],
});

test.each([
  ['a prefix that matches', { statusReason: 'Host EC2 (i-1) terminated' }, true],
  ['a rule all of whose conditions hold', { exitCode: 7, reason: 'OutOfMemoryError' }, true],
  ['an exit code by its beginning', { exitCode: 137 }, false],
  ['the whole of an exit code', { exitCode: 77 }, true],
  ['no rule at all', {}, true],
])('%s decides', (_, failure, retried) => {
  expect(isRetried(rules, 1, failure)).toBe(retried);
});

test('no rule gives more attempts than there are', () => {
  expect(isRetried(rules, 2, { statusReason: 'Host EC2 x' })).toBe(true);
  expect(isRetried(rules, 3, { statusReason: 'Host EC2 x' })).toBe(false);
});

test('an asterisk matches what is absent, nothing else does', () => {
  const strategy = (onReason: string) => ({
    attempts: 2,
    evaluateOnExit: [{ action: 'EXIT' as const, onReason }],
  });
  expect(isRetried(strategy('*'), 1, { exitCode: 1 })).toBe(false);
  expect(isRetried(strategy('a*'), 1, { exitCode: 1 })).toBe(true);
});

test.each([
  { attempts: 0 },
  { attempts: 11 },
  { attempts: 1, evaluateOnExit: Array(6).fill({ action: 'EXIT' }) },
  { attempts: 1, evaluateOnExit: [{ action: 'STOP' }] },
  { attempts: 1, evaluateOnExit: [{ action: 'EXIT', onExitCode: '-1' }] },
  { attempts: 1, evaluateOnExit: [{ action: 'EXIT', onReason: 'a*b' }] },
  { attempts: 1, evaluateOnExit: [{ action: 'EXIT', onReason: 'x'.repeat(513) }] },
])('%j is no strategy', (strategy) => {
  expect(RetryStrategy.safeParse(strategy).success).toBe(false);
});
