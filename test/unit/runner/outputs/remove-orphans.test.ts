import { expect, test } from 'vitest';
import { artifactObject } from '../../../../shared/data/experiments/artifact.ts';
import type { TableWriter } from '../../../../shared/data/table/table.ts';
import { ConditionFailedError } from '../../../../shared/data/table/write-label.ts';
import { LeaseLostError } from '../../../../shared/runner/job/job-error.ts';
import { removeOrphans } from '../../../../shared/runner/outputs/remove-orphans.ts';
import { experimentOf } from '../../../support/experiment.ts';

const experiment = experimentOf('01m7zd37c8fvxfhbyjhxbvgrzb', null);
const at = '2026-01-02T03:04:05.000Z';
const lease = {
  holder: 'h',
  number: 2,
  batch_job_id: 'b',
  batch_attempt: 2,
  taken_at: at,
  heartbeat_at: at,
};
const object = (id: string) => artifactObject(experiment.project_id, experiment.experiment_id, id);

/** Steps that are taken, in order; the table says whether the lease is still held. */
function world(isHeld: boolean) {
  const steps: string[] = [];
  const records: TableWriter<'records'> = {
    name: 'records',
    writable: true,
    get: async () => undefined,
    peek: async () => undefined,
    batchGet: async () => [],
    query: async () => ({ items: [], next: undefined }),
    count: async () => 0,
    async write() {
      steps.push('prove');
      if (!isHeld) throw new ConditionFailedError();
    },
  };
  const objects = {
    async list(prefix: string) {
      steps.push('list');
      return { objects: ['a', 'b', 'c'].map((id) => ({ key: `${prefix}${id}`, size: 1 })), next: undefined };
    },
    async delete(keys: readonly string[]) {
      steps.push(`delete ${keys.map((key) => key.at(-1)).join()}`);
    },
  };
  const { project_id, experiment_id: job_id } = experiment;
  const prefix = artifactObject(project_id, job_id, '');
  return { steps, owner: { records, objects, job_id, lease, prefix, patienceSeconds: 1 } };
}

test('what no record names is removed, after the lease was proved', async () => {
  const { steps, owner } = world(true);
  await removeOrphans(owner, new Set([object('b')]));
  expect(steps).toEqual(['list', 'prove', 'delete a,c']);
});

test('a holder that was superseded removes nothing, for it may be what the next one stored', async () => {
  const { steps, owner } = world(false);
  await expect(removeOrphans(owner, new Set())).rejects.toThrow(LeaseLostError);
  expect(steps).toEqual(['list', 'prove']);
});

test('where all is named nothing is written', async () => {
  const { steps, owner } = world(true);
  await removeOrphans(owner, new Set(['a', 'b', 'c'].map(object)));
  expect(steps).toEqual(['list']);
});
