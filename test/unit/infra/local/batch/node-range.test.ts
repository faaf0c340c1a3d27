import { expect, test } from 'vitest';
import { nodesOf } from '../../../../../infra/local/batch/jobs/new-job-record.ts';

test.each([
  ['0:', [0, 1, 2]],
  [':1', [0, 1]],
  ['1:2', [1, 2]],
  ['1', [1]],
  [':', [0, 1, 2]],
])('%s of three nodes', (range, nodes) => {
  expect(nodesOf(range, 3)).toEqual(nodes);
});

test.each(['', '3', '2:1', '0:3', 'a', '0:1:2', '-1:2', '99999999:'])(
  '%j is no range of three nodes',
  (range) => {
    expect(() => nodesOf(range, 3)).toThrow('is not a range of 3 nodes');
  },
);
