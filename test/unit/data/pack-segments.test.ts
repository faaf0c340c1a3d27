import { expect, test } from 'vitest';
import { newId } from '../../../shared/core/new-id.ts';
import { rowOf } from '../../../shared/data/experiments/experiment-row.ts';
import { packSegments } from '../../../shared/data/experiments/fold-catalogue.ts';
import type { ExperimentFields } from '../../../shared/data/experiments/tracking.ts';
import { loggedExperiment } from '../../../shared/experiments/logged-experiment.ts';
import { newProject } from '../../proofs/bench/project-records.ts';

/** A row whose params compress to almost nothing. */
function longRow(characters: number) {
  const user_id = newId();
  const fields: ExperimentFields = {
    name: 'run',
    note: null,
    tags: {},
    params: { text: 'ab'.repeat(characters / 2) },
    git: null,
    updated_at: new Date().toISOString(),
    version: 1,
  };
  const experiment_id = newId();
  const experiment = loggedExperiment({
    project: newProject(user_id),
    experiment_id,
    caller: { user_id },
    fields,
  });
  return rowOf({ ...experiment, status: 'SUCCEEDED' }, { fields, metrics: new Map() });
}

test('a search parses at most 4 MB of rows at once, however well they compress', () => {
  const { segments, large } = packSegments(Array.from({ length: 100 }, () => longRow(100_000)));

  expect(large).toEqual([]);
  expect(segments.length).toBeGreaterThanOrEqual(3);
  for (const { ref } of segments) expect(ref.rows * 100_000).toBeLessThanOrEqual(4_000_000);
  expect(segments.reduce((sum, { ref }) => sum + ref.rows, 0)).toBe(100);
});
