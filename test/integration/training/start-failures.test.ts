import { expect, test } from 'vitest';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import type { ContainerStart, StartFailure } from '../../../infra/local/batch/jobs/attempt.ts';
import { sampled } from '../../support/samples.ts';
import { trainingService } from '../../support/training.ts';

const failedToStart = 'Task failed to start';

/** A training on a host that fails so as it starts the container of an attempt up to `last`. */
async function trainingOn(failure: StartFailure, last: number) {
  const starts: ContainerStart[] = [];
  const service = await trainingService({
    startFailure(start) {
      starts.push(start);
      return start.attempt <= last ? failure : undefined;
    },
  });
  const project_id = await service.project({ command: 'echo it runs' });
  const query = { config: 'train.yaml' };
  const { json } = await service.call(train, { path: { project_id }, query, as: service.developer });
  const { experiment_id } = json;
  const experiment = await service.ended(project_id, experiment_id);
  const read = () => service.ended(project_id, experiment_id);
  return { service, starts, experiment, read, log: await service.log(project_id, experiment_id) };
}

const failures: [string, StartFailure][] = [
  [
    'an image that cannot be pulled',
    { statusReason: failedToStart, reason: 'CannotPullContainerError: timeout' },
  ],
  [
    'a slow Docker',
    { statusReason: failedToStart, reason: 'DockerTimeoutError: Could not transition to started' },
  ],
  ['Fargate without its resources', { statusReason: 'ResourceInitializationError: failed to invoke EFS' }],
  ['an agent that gave up', { reason: 'AGENT' }],
];

test.each(sampled(failures, 4))('%s is tried again, and counts as no execution', async (_, failure) => {
  const { starts, experiment, log, read } = await trainingOn(failure, 1);
  expect(experiment, log).toMatchObject({ status: 'SUCCEEDED', attempt: 1, exit_code: 0 });
  expect(starts.map(({ attempt }) => attempt)).toEqual([1, 2]);
  // The job itself says first that it has succeeded; what it took to start it comes with Batch's event.
  await expect
    .poll(async () => (await read()).attempts)
    .toMatchObject([
      {
        attempt: 1,
        started_at: null,
        exit_code: null,
        reason: expect.stringContaining(Object.values(failure).join(': ')),
      },
      { attempt: 2, exit_code: 0 },
    ]);
  expect(log.match(/it runs/g)).toHaveLength(1);
});

test('one that fails always ends after ten attempts, says why, and is unfinished no longer', async () => {
  const failure = { statusReason: failedToStart, reason: 'CannotPullContainerError: no such image' };
  const { service, starts, experiment } = await trainingOn(failure, 99);
  expect(starts).toHaveLength(10);
  expect(experiment).toMatchObject({ status: 'FAILED', attempt: 0, exit_code: null });
  expect(experiment.status_reason).toBe(
    'The container could not be started, 10 times in a row, the maximum. Start a new job. Batch says: Task failed to start: CannotPullContainerError: no such image',
  );
  expect(experiment.attempts).toHaveLength(10);
  expect((await service.records.query({ pk: 'UNFINISHED_JOBS' })).items).toEqual([]);
});
