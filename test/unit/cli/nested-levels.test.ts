import { expect, test } from 'vitest';
import { nestedLevels } from '../../../cli/import/nested-levels.ts';
import type { SourceRun } from '../../../cli/import/source.ts';

const run = (id: string): SourceRun => ({
  ...{ id, name: id, status: 'FINISHED', user: '', start: undefined, end: undefined, isDeleted: false },
  ...{ params: [], tags: [], datasets: [], artifactUri: '' },
});

test('parents come before children, however many generations there are', () => {
  const count = 50_000;
  const runs = Array.from({ length: count }, (_, index) => run(String(count - 1 - index)));
  const levels = nestedLevels(runs, ({ id }) => (id === '0' ? undefined : String(Number(id) - 1)));
  expect(levels).toHaveLength(count);
  expect(levels.at(-1)).toEqual([run(String(count - 1))]);
});

test('runs in a circle, and one that is its own parent, are there once each', () => {
  const count = 50_000;
  const runs = [...Array.from({ length: count }, (_, index) => run(String(index))), run('own')];
  const levels = nestedLevels(runs, ({ id }) => (id === 'own' ? id : String((Number(id) + 1) % count)));
  expect(levels.flat()).toHaveLength(count + 1);
});
