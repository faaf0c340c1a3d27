import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { endpoint as trainRemote } from '../../../functions/projects/training/train-project-remote.endpoint.ts';
import { batchControl } from '../../../shared/aws/batch.ts';
import { batch } from '../../../shared/aws/batch-client.ts';
import { everySample } from '../../support/samples.ts';
import { type TrainingService, trainingService } from '../../support/training.ts';
import { writeWheel } from '../runner/environment/packages.ts';

const wheel = 'tiny-1.0-py3-none-any.whl';
const node = { vcpus: 4, memory: 16_384, gpus: 1, price: 1 };
const prices = JSON.stringify({ fargate: { base: 0, vcpu: 0, gib: 0 }, nodes: [node] });
const queues = [
  { name: 'train', maxJobs: 1, platform: 'FARGATE' },
  { name: 'gpu', maxJobs: 1, platform: 'EC2', instances: [{ vcpus: 4, memory: 15_500, gpus: 1 }] },
  { name: 'cluster', maxJobs: 1, platform: 'EC2' },
] as const;

const begin = (service: TrainingService, project_id: string, query: Record<string, string>) =>
  service.call(train, {
    path: { project_id },
    query: { config: 'train.yaml', ...query },
    as: service.developer,
  });

test.runIf(everySample)(
  'a training with GPUs is one container on their queue, with all the memory of a node, and builds its environment',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mps-wheel-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeWheel(join(folder, wheel), '1.0');
    const service = await trainingService({ queues }, { PRICES: prices, PIP_NO_INDEX: '1' });
    const project_id = await service.project({
      command: 'python3 -c "import tiny"',
      env_type: 'python',
      dependencies: `./${wheel}`,
      files: { [wheel]: await readFile(join(folder, wheel)) },
    });
    const begun = await begin(service, project_id, { gpus: '1' });
    expect(begun.json, begun.text).toMatchObject({
      kind: 'train',
      gpus: 1,
      vcpus: 1,
      memory: 15_400,
      limits: { memory: 'enforced', vcpus: 'reserved', separation: 'container' },
    });
    const { experiment_id } = begun.json;
    const ended = await service.ended(project_id, experiment_id);
    expect(ended, await service.log(project_id, experiment_id)).toMatchObject({
      status: 'SUCCEEDED',
      environment_cache: 'miss',
      cost_estimate: 6,
    });
    const control = batchControl(batch(service.environment));
    expect(await control.findByName('gpu', `train-${experiment_id}`)).toBeDefined();
    for (const queue of ['train', 'cluster'])
      for (const name of ['train', 'build'])
        expect(await control.findByName(queue, `${name}-${experiment_id}`)).toBeUndefined();
  },
);

test('of a deployment without GPUs none can be asked for, on a cluster neither', async () => {
  const service = await trainingService({ queues }, { GPUS: 'no' });
  const project_id = await service.project({ command: 'true' });
  const refused = {
    status: 400,
    json: { errors: [{ in: 'query', name: 'gpus', message: expect.stringContaining('has no GPUs') }] },
  };
  expect(await begin(service, project_id, { gpus: '1' })).toMatchObject(refused);
  const query = { gpus: '1' };
  const remote = await service.call(trainRemote, { path: { project_id }, query, as: service.developer });
  expect(remote).toMatchObject(refused);
  expect((await begin(service, project_id, { gpus: '0' })).status).toBe(200);
});

test('of one machine no more can be asked for than it has, and the answer says what keeps a job to its size', async () => {
  const service = await trainingService({ queues }, { GPUS: '0', JOBS_RUN_AS: 'processes' });
  const project_id = await service.project({ command: 'true' });
  expect(await begin(service, project_id, { gpus: '1' })).toMatchObject({
    status: 400,
    json: { errors: [{ name: 'gpus', message: expect.stringContaining('this machine has no NVIDIA GPU') }] },
  });
  const limits = { memory: 'watched', vcpus: 'not enforced' };
  expect(await begin(service, project_id, {})).toMatchObject({ status: 200, json: { limits } });
});
