import { expect, test } from 'vitest';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { batchControl } from '../../../shared/aws/batch.ts';
import { batch } from '../../../shared/aws/batch-client.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import { reconcileAll } from '../../../shared/jobs/reconciliation.ts';
import { trainingService } from '../../support/training.ts';

test('a job that was recorded before the clock was set back an hour is submitted all the same', async () => {
  const service = await trainingService();
  const project_id = await service.project({ command: 'true' });
  const begun = await service.call(train, {
    path: { project_id },
    query: { config: 'train.yaml' },
    as: service.developer,
    environment: { ...service.environment, BATCH_ENDPOINT: 'http://127.0.0.1:9' },
  });
  expect(begun.json.status, begun.text).toBe('CREATED');
  await reconcileAll({
    records: service.records,
    batch: batchControl(batch(service.environment)),
    settings: readSettings(service.environment),
    now: () => new Date(Date.now() - 3_600_000),
  });
  const { experiment_id } = begun.json;
  expect(await service.ended(project_id, experiment_id)).toMatchObject({ status: 'SUCCEEDED', attempt: 1 });
});
