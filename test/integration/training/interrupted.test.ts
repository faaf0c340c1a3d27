import { expect, test } from 'vitest';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { loseHost, retriedDefinition } from '../../support/lost-host.ts';
import { trainingService } from '../../support/training.ts';

/** Takes its time to save when it is asked to end, and goes on from there. */
const script = `
if [ -e "$CHECKPOINT_DIR/last" ]; then echo "resumed from $(cat "$CHECKPOINT_DIR/last")"; exit 0; fi
trap 'sleep 1; echo step-7 > "$CHECKPOINT_DIR/last"; exit 1' TERM
echo ready
while :; do sleep 0.1; done
`;

test('an attempt whose host goes away saves first, and the next one starts from there', async () => {
  const service = await trainingService({ jobDefinitions: [retriedDefinition] });
  const project_id = await service.project({ command: 'sh train.sh', files: { 'train.sh': script } });
  const { json } = await service.call(train, {
    path: { project_id },
    query: { config: 'train.yaml' },
    as: service.developer,
  });
  const { experiment_id } = json;
  await expect.poll(() => service.log(project_id, experiment_id)).toContain('ready');
  await loseHost(service, project_id, experiment_id);

  const ended = await service.ended(project_id, experiment_id);
  const log = await service.log(project_id, experiment_id);
  expect(ended, log).toMatchObject({ status: 'SUCCEEDED', attempt: 2 });
  // Batch tells of the first attempt at a time of its own.
  const attempts = async () => (await service.ended(project_id, experiment_id)).attempts;
  await expect.poll(attempts).toMatchObject([
    { attempt: 1, exit_code: 143, started_at: expect.any(String), stopped_at: expect.any(String) },
    { attempt: 2, exit_code: 0, stopped_at: expect.any(String), reason: null },
  ]);
  expect(log).toContain('ready');
  expect(log).toContain('resumed from step-7');
});
