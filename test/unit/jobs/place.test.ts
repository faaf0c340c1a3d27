import { expect, test } from 'vitest';
import { readSettings } from '../../../shared/core/settings.ts';
import { queueOf } from '../../../shared/jobs/submission.ts';
import { deploymentFaults } from '../../../shared/runner/training/environment-faults.ts';
import { experimentOf } from '../../support/experiment.ts';

const image = 'example/own:1';
const variables = { RECORDS_TABLE: 'records', BUCKET: 'bucket' };
const definitions = { train: 'train-own', cluster: 'cluster-own', gpu: 'gpu-own' };
const settings = readSettings({ ...variables, TRUSTED_IMAGES: JSON.stringify({ [image]: definitions }) });
const experiment = (dependencies: string, gpus = 0) => ({
  ...experimentOf('0'.repeat(26), null),
  gpus,
  environment: { entry_point_command: 'true', env_type: 'docker' as const, dependencies, version: 1 },
});

test('a trusted image runs by its own definition, on the queue of all others', () => {
  expect(queueOf(experiment(image), settings)).toEqual({ queue: 'train', definition: 'train-own' });
  expect(queueOf(experiment(image, 1), settings)).toEqual({ queue: 'gpu', definition: 'gpu-own' });
  const onCluster = { ...experiment(image, 1), kind: 'train-remote' as const };
  expect(queueOf(onCluster, settings)).toEqual({ queue: 'cluster', definition: 'cluster-own' });
  expect(queueOf(experiment('other'), settings)).toEqual({ queue: 'train', definition: 'train' });
});

test('GPUs on one node have a queue of their own, those of a cluster are on its nodes', () => {
  expect(queueOf(experiment('other', 1), settings)).toEqual({ queue: 'gpu', definition: 'gpu' });
  const onCluster = { ...experiment('other', 1), kind: 'train-remote' as const };
  expect(queueOf(onCluster, settings)).toEqual({ queue: 'cluster', definition: 'cluster' });
});

test('a deployment keeps clusters with GPUs and such without on queues of their own', () => {
  const deployed = readSettings({ ...variables, CLUSTER_GPU_QUEUE: 'cluster-gpu' });
  const onCluster = (gpus: number) => ({ ...experiment('other', gpus), kind: 'train-remote' as const });
  expect(queueOf(onCluster(0), deployed).queue).toBe('cluster');
  expect(queueOf(onCluster(1), deployed).queue).toBe('cluster-gpu');
});

test('a deployment takes no image that it does not trust; a machine of one’s own takes any', () => {
  const environment = { env_type: 'docker' as const, dependencies: 'other' };
  const message = `must be one of the trusted images: ${image}`;
  expect(deploymentFaults(environment, settings)).toEqual([{ name: 'dependencies', message }]);
  expect(deploymentFaults({ ...environment, dependencies: image }, settings)).toEqual([]);
  expect(deploymentFaults(environment, readSettings(variables))).toEqual([]);
});

test('bad prices and images are named when the environment is read', () => {
  expect(() => readSettings({ ...variables, PRICES: '{', TRUSTED_IMAGES: '[]' })).toThrow(
    /PRICES.*TRUSTED_IMAGES/s,
  );
});
