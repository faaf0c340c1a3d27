import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadOperations } from '../../../infra/service/endpoints.ts';

/** What changes one thing to one value may be repeated as it is. */
const repeatable = new Set([
  'cancelExperiment',
  'cancelExperiments',
  'cancelPruneStrategy',
  'cancelQuantizeStrategy',
  'cancelSweep',
  'changeUserType',
  'deleteExperiments',
  'estimateSweep',
  'markProjectDeleted',
  'pauseSweep',
  // It only reads.
  'readArtifacts',
  'restoreExperiments',
  'restoreProject',
  'resumeSweep',
  // Failed runs that begin again are failed no more.
  'retrySweep',
  // A caller names the times of its points; without them a point could come twice.
  'logExperimentMetrics',
  'logExperimentParams',
  // A message comes at least once; one of a test may come twice.
  'redeliverMessage',
  'testHook',
]);

test('the client may repeat every POST outside /auth/: it takes a key, or does the same twice', async () => {
  const endpoints = await loadOperations(join(import.meta.dirname, '../../../functions'));
  const posts = endpoints
    .map(({ endpoint }) => endpoint)
    .filter(({ method, path }) => method === 'POST' && !path.startsWith('/auth/'));
  expect(posts.length).toBeGreaterThan(8);
  const others = posts.filter(({ idempotent, name }) => idempotent === undefined && !repeatable.has(name));
  expect(others.map(({ name }) => name)).toEqual([]);
});
