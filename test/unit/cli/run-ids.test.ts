import { expect, test } from 'vitest';
import { countRuns } from '../../../cli/import/count-runs.ts';
import type { RunSource, SourceRun } from '../../../cli/import/source.ts';

const runOf = (id: string, name: string): SourceRun => ({
  ...{ id, name, status: 'FINISHED', user: '', start: 0, end: 1, isDeleted: false },
  ...{ params: [], tags: [], datasets: [], artifactUri: '' },
});

/** A source with a run of this id in each of two experiments. */
const twice = (names: readonly [string, string]): RunSource => ({
  async *experiments() {
    for (const name of names) yield { id: name, name, tags: [], isDeleted: false };
  },
  async *runs({ id }) {
    yield runOf('a', `first of ${id}`);
  },
  async *points() {},
  async *files() {},
  openFile: () => Promise.reject(new Error('no file')),
  async *models() {},
});

test('runs with one id come if they go into projects of their own', async () => {
  const { runs, failures } = await countRuns(
    { source: twice(['one', 'two']), rename: (name) => name },
    () => {},
  );

  expect([runs, failures]).toEqual([2, []]);
});

test('of runs with one id that go into one project the first comes, and the other is named', async () => {
  const { runs, failures } = await countRuns(
    { source: twice(['one', 'one']), rename: (name) => name },
    () => {},
  );

  expect(runs).toBe(1);
  expect(failures).toEqual([
    'run first of one of one: has the id a of the run first of one, which is brought',
  ]);
});
