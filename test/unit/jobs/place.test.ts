import { expect, test } from 'vitest';
import { environmentFaults } from '../../../functions/projects/environment-faults.ts';
import { readSettings } from '../../../shared/endpoint/settings.ts';
import { placeOf } from '../../../shared/jobs/place.ts';
import { experimentOf } from '../../support/experiment.ts';

const image = 'example/own:1';
const variables = { RECORDS_TABLE: 'records', BUCKET: 'bucket' };
const definitions = { train: 'train-own', cluster: 'cluster-own' };
const settings = readSettings({ ...variables, TRUSTED_IMAGES: JSON.stringify({ [image]: definitions }) });
const experiment = (dependencies: string, gpus = 0) => ({
  ...experimentOf('0'.repeat(26), null),
  gpus,
  environment: { entry_point_command: 'true', env_type: 'docker' as const, dependencies, version: 1 },
});

test('a trusted image runs by its own definition, on the queue of all others', () => {
  expect(placeOf(experiment(image), settings)).toEqual({ queue: 'train', definition: 'train-own' });
  expect(placeOf(experiment(image, 1), settings)).toEqual({ queue: 'cluster', definition: 'cluster-own' });
  expect(placeOf(experiment('other'), settings)).toEqual({ queue: 'train', definition: 'train' });
});

test('a deployment takes no image that it does not trust; a machine of one’s own takes any', () => {
  const environment = { entry_point_command: 'true', env_type: 'docker' as const, dependencies: 'other' };
  expect(environmentFaults(environment, settings)).toEqual([
    { in: 'query', name: 'dependencies', message: `must be one of the trusted images: ${image}` },
  ]);
  expect(environmentFaults({ ...environment, dependencies: image }, settings)).toEqual([]);
  expect(environmentFaults(environment, readSettings(variables))).toEqual([]);
});

test('bad prices and images are named when the environment is read', () => {
  expect(() => readSettings({ ...variables, PRICES: '{', TRUSTED_IMAGES: '[]' })).toThrow(
    /PRICES.*TRUSTED_IMAGES/s,
  );
});
