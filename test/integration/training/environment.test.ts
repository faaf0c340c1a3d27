import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { endpoint as readEnvironment } from '../../../functions/projects/environment/read-environment.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { trainingService } from '../../support/training.ts';
import { writeWheel } from '../runner/environment/packages.ts';

const wheel = 'tiny-1.0-py3-none-any.whl';

test('an environment is built once; the second run starts from the cache and says what that saved', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mps-wheel-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeWheel(join(folder, wheel), '1.0');
  const service = await trainingService({}, { PIP_NO_INDEX: '1', DOWNLOADS_IN_BUCKET: 'yes' });
  const { developer: as } = service;
  const project_id = await service.project({
    command: 'python3 use.py',
    files: {
      'use.py': 'import tiny, sys\nprint("prefix", sys.prefix)\n',
      [`wheels/${wheel}`]: await readFile(join(folder, wheel)),
    },
    env_type: 'python',
    dependencies: `./wheels/${wheel}`,
  });
  const run = async () => {
    const begun = await service.call(train, { path: { project_id }, query: { config: 'train.yaml' }, as });
    const { experiment_id } = begun.json;
    const experiment = await service.ended(project_id, experiment_id);
    return { experiment, log: await service.log(project_id, experiment_id) };
  };
  const first = await run();
  expect(first.experiment, first.log).toMatchObject({ status: 'SUCCEEDED', environment_cache: 'miss' });
  const environment = await service.call(readEnvironment, { path: { project_id }, as });
  expect(environment.json.lock_hash).toBe(first.experiment.lock_hash);
  expect(environment.json.lock_hash).toMatch(/^[0-9a-f]{64}$/);

  const second = await run();
  expect(second.experiment, second.log).toMatchObject({ status: 'SUCCEEDED', environment_cache: 'hit' });
  expect(second.experiment.saved_seconds).toBeGreaterThan(0);
  expect(second.log).toContain('cache hit');
  expect(second.log).not.toContain('cpython');
  expect(second.experiment.lock_hash).toBe(first.experiment.lock_hash);

  // A host that never built it takes the pack from storage.
  await rm(join(service.folder, 'environments'), { recursive: true, force: true });
  const third = await run();
  expect(third.experiment, third.log).toMatchObject({ status: 'SUCCEEDED', environment_cache: 'hit' });
});
