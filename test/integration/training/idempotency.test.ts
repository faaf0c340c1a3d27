import { expect, test } from 'vitest';
import { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as trainProject } from '../../../functions/projects/training/train-project.endpoint.ts';
import { endpoint as trainRemote } from '../../../functions/projects/training/train-project-remote.endpoint.ts';
import type { BatchControl } from '../../../shared/aws/batch.ts';
import {
  experimentKey,
  listExperiments as listRecorded,
} from '../../../shared/data/experiments/experiment.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import type { creatingExperiment } from '../../../shared/training/record-experiment.ts';
import { idleBatch } from '../../support/ended-run.ts';
import { everySample } from '../../support/samples.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { trainingService } from '../../support/training.ts';
import { newProject } from '../projects/new-project.ts';
import { trainableProject } from '../projects/trainable-project.ts';

const headers = { 'Idempotency-Key': 'nightly' };

/** The endpoint with another Batch. */
const submittingTo = (batch: BatchControl): AnyEndpoint => {
  const handle = trainProject.handle as (input: never, context: object) => Promise<unknown>;
  const { replayCreated, ...idempotent } = trainProject.idempotent as typeof creatingExperiment;
  return {
    ...trainProject,
    handle: (input: never, context: object) => handle(input, { ...context, batch }),
    idempotent: {
      ...idempotent,
      replayCreated: (id: string, context: never) =>
        replayCreated(id, { ...(context as object), batch } as never),
    },
  } as AnyEndpoint;
};

/** A service that trains, and who asks it. */
type Training = TestService & { developer: TestUser };

function trainingOf(service: Training, project_id: string) {
  const path = { project_id };
  const as = service.developer;
  return {
    train: (endpoint: AnyEndpoint = trainProject, query = 'config=train.yaml') =>
      service.call(endpoint, { path, query, headers, as }),
    experiments: async () => (await service.call(listExperiments, { path, as })).json,
    endLease: async () => {
      const { items } = await service.records.query({ pk: `IDEMPOTENCY#${as.user.user_id}` });
      await service.records.write({ update: items[0]!, change: { set: { lease_until: 0 } } });
    },
    /** Lets the time pass after which the process that recorded the one experiment has submitted it, or is dead. */
    endSubmission: async () => {
      const { items } = await listRecorded(service.records, project_id, { limit: 1 });
      const submitting_at = new Date(Date.now() - 60_000).toISOString();
      const key = experimentKey(project_id, items[0]!.experiment_id);
      await service.records.write({ update: key, change: { set: { submitting_at } } });
    },
  };
}

test('a training that is asked for again under its key runs once', async () => {
  const service = await trainingService();
  const project_id = await service.project({ command: 'true' });
  const { train, experiments } = trainingOf(service, project_id);
  const answers = await Promise.all([train(), train(), train()]);
  const first = answers.find(
    (one) => one.status === 200 && one.headers['idempotency-replayed'] === undefined,
  )!;
  await service.ended(project_id, first.json.experiment_id);
  const again = await train();
  expect(again.text).toBe(first.text);
  expect(await experiments()).toHaveLength(1);
  expect((await train(trainProject, 'config=train.yaml&timeout=60')).status).toBe(422);
  expect((await train(trainRemote)).status).toBe(422);
  expect(await experiments()).toHaveLength(1);
});

test('a training whose request died before it was submitted is submitted by the retry, also at the limit', async () => {
  const service = await trainingService({}, { LIMIT_UNFINISHED_JOBS: '1' });
  const project_id = await service.project({ command: 'true' });
  const { train, experiments, endLease, endSubmission } = trainingOf(service, project_id);
  let reached = () => {};
  const submitting = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const hanging: BatchControl = {
    ...idleBatch,
    submit: () => {
      reached();
      return new Promise<never>(() => undefined);
    },
  };
  void train(submittingTo(hanging));
  await submitting;
  expect((await train()).status).toBe(409);
  await endLease();
  await endSubmission();
  const retried = await train();
  expect(retried.status).toBe(200);
  expect(retried.json.status).not.toBe('CREATED');
  const [one, ...more] = await experiments();
  expect(more).toEqual([]);
  expect(retried.json.experiment_id).toBe(one.experiment_id);
  expect(await service.ended(project_id, one.experiment_id)).toMatchObject({
    status: 'SUCCEEDED',
    attempt: 1,
  });
});

test('a training is submitted once if it is asked for again while its first request still submits it', async () => {
  const service = await testService({ LOG_LEVEL: 'error' });
  const developer = await service.user('developer');
  const project_id = await trainableProject(service, developer);
  const { train, experiments, endLease } = trainingOf({ ...service, developer }, project_id);
  const submitted: string[] = [];
  const [arrived, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow: BatchControl = {
    ...idleBatch,
    async submit({ name }) {
      if (submitted.push(name) === 1) {
        arrived.resolve();
        await goOn.promise;
      }
      return `b-${name}`;
    },
  };

  const first = train(submittingTo(slow));
  await arrived.promise;
  await endLease();
  const second = await train(submittingTo(slow));
  goOn.resolve();
  const answers = [await first, second];

  const [one, ...more] = await experiments();
  expect(answers.map(({ status, json }) => [status, json.experiment_id])).toEqual([
    [200, one.experiment_id],
    [200, one.experiment_id],
  ]);
  expect(more).toEqual([]);
  expect(submitted).toHaveLength(1);
});

test.runIf(everySample)(
  'a training that was refused can be repeated under its key once the reason is gone',
  async () => {
    const service = await trainingService();
    const project_id = await newProject(service, service.developer);
    const as = service.developer;
    const { train } = trainingOf(service, project_id);
    expect((await train()).status).toBe(404);
    await service.call(putConfig, { path: { project_id, config_id: 'train.yaml' }, body: 'epochs: 3\n', as });
    expect((await train()).status).toBe(409);
    const query = { entry_point_command: 'true', env_type: 'system', dependencies: 'none' };
    await service.call(putEnvironment, { path: { project_id }, query, as });
    const answer = await train();
    expect(answer.status).toBe(200);
    await service.ended(project_id, answer.json.experiment_id);
  },
);
