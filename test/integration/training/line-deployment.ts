import { expect } from 'vitest';
import { endpoint as cancelExperiment } from '../../../functions/experiments/records/cancel-experiment.endpoint.ts';
import { endpoint as deleteExperiment } from '../../../functions/experiments/records/delete-experiment.endpoint.ts';
import { endpoint as readExperiment } from '../../../functions/experiments/records/read-experiment.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { endpoint as trainRemote } from '../../../functions/projects/training/train-project-remote.endpoint.ts';
import { waitingLines } from '../../../shared/data/jobs/waiting-line.ts';
import { type TrainingService, trainingService } from '../../support/training.ts';
import { trainableProject } from '../projects/trainable-project.ts';

/** Jobs are accepted by Batch and wait there. */
const full = { queues: ['train', 'gpu', 'cluster'].map((name) => ({ name, maxJobs: 0 })) };
export const query = { config: 'train.yaml' };

/** A deployment of these limits, and users with a project each. */
export async function deployment(
  variables: Readonly<Record<string, string>>,
  options: typeof full | object = full,
) {
  const service = await trainingService(options, variables);
  const owner = async () => {
    const as = await service.user('developer');
    const project_id = await trainableProject(service, as);
    const path = { project_id };
    const of = (experiment_id: string) => ({ path: { project_id, experiment_id }, as });
    return {
      as,
      project_id,
      train: async (more: Record<string, string> = {}): Promise<string> => {
        const { status, json, text } = await service.call(train, { path, query: { ...query, ...more }, as });
        expect(status, text).toBe(200);
        return json.experiment_id;
      },
      refused: () => service.call(train, { path, query, as }),
      cluster: async (): Promise<string> =>
        (await service.call(trainRemote, { path, query: { nodes: '1' }, as })).json.experiment_id,
      read: async (id: string) => (await service.call(readExperiment, of(id))).json,
      // Whoever gave it its place may still be submitting it.
      isBegun: (id: string) =>
        expect.poll(async () => (await service.call(readExperiment, of(id))).json).toMatchObject(begun),
      cancel: (id: string) => service.call(cancelExperiment, of(id)),
      remove: (id: string) => service.call(deleteExperiment, of(id)),
    };
  };
  return { service, owner, lines: () => linesOf(service) };
}

const linesOf = async (service: TrainingService) =>
  (await service.records.query({ pk: waitingLines.partitions[0] })).items.map(({ sk }) => sk);

const statuses = ['SUBMITTED', 'PENDING', 'RUNNABLE'];
export const begun = {
  status: expect.toSatisfy((status: string) => statuses.includes(status)),
  place_in_line: null,
};
export const standing = (place: number, status_reason: unknown = expect.any(String)) => ({
  status: 'CREATED',
  place_in_line: place,
  status_reason,
});
