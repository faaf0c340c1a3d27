import { expect, test } from 'vitest';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { batchControl } from '../../../shared/aws/batch.ts';
import { batch } from '../../../shared/aws/batch-client.ts';
import { trainingService } from '../../support/training.ts';

test('a doubled submission executes once', async () => {
  const service = await trainingService();
  const { developer: as } = service;
  const project_id = await service.project({ command: "sh -c 'echo ran; sleep 1'" });
  const begun = await service.call(train, { path: { project_id }, query: { config: 'train.yaml' }, as });
  const { experiment_id } = begun.json;
  const control = batchControl(batch(service.environment));
  const again = await control.submit({
    name: `train-${experiment_id}`,
    queue: 'train',
    definition: 'train',
    environment: { PROJECT_ID: project_id, EXPERIMENT_ID: experiment_id, PHASE: 'run' },
    vcpus: 1,
    memory: 2048,
    gpus: 0,
    timeout: 600,
  });
  const experiment = await service.ended(project_id, experiment_id);
  await expect.poll(async () => (await control.describe([again]))[0]?.status).toBe('SUCCEEDED');
  expect(experiment).toMatchObject({ status: 'SUCCEEDED', attempt: 1 });
  const log = await service.log(project_id, experiment_id);
  expect(log.match(/ran/g)).toHaveLength(1);
});
