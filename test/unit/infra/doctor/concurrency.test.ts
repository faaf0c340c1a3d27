import { expect, test } from 'vitest';
import { checkConcurrency } from '../../../../infra/aws/deploy/checks/quotas.ts';
import { readOptions } from '../../../../infra/aws/options/deployment-options.ts';

const judged = (quota: number | undefined, options: Record<string, unknown> = {}) =>
  checkConcurrency(quota, readOptions(options));

test('a quota that holds the burst down is a note that says from which on it does not', () => {
  expect(judged(10)).toMatchObject({ outcome: 'note', what: expect.stringContaining('below 200') });
  expect(judged(199).outcome).toBe('note');
  expect(judged(200).outcome).toBe('good');
  expect(judged(1000).outcome).toBe('good');
});

test('options that let more through than the account runs at once are a problem', () => {
  expect(judged(10, { requestBurst: 100 })).toMatchObject({
    outcome: 'problem',
    what: expect.stringContaining('503'),
  });
  expect(judged(10, { concurrentFunctions: 1000 }).outcome).toBe('problem');
  expect(judged(1000, { requestBurst: 400, concurrentFunctions: 1000 }).outcome).toBe('good');
});

test('a quota that may not be read is a note with what is needed', () => {
  expect(judged(undefined, { requestBurst: 100 })).toMatchObject({
    outcome: 'note',
    what: expect.stringContaining('needs 200'),
  });
});
