import { expect, test } from 'vitest';
import { exportInputs } from '../../../functions/optimization/exports/export-inputs.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { endpoint as putVariables } from '../../../functions/projects/variables/put-variables.endpoint.ts';
import { controlBatch } from '../../../shared/aws/needs.ts';
import { createLogger } from '../../../shared/core/log.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { requireCompression } from '../../../shared/data/models/compression.ts';
import { requireReadyModel } from '../../../shared/data/models/model.ts';
import { requireProject } from '../../../shared/data/projects/project.ts';
import { submitAdmitted } from '../../../shared/jobs/admission.ts';
import { recordExperiment } from '../../../shared/training/record-experiment.ts';
import { onnxFixture } from '../../support/model.ts';
import { type TrainingService, trainingService } from '../../support/training.ts';
import { json } from '../users/body.ts';

/** An export of the artifacts of an experiment by another command than the exporter, which needs no packages. */
async function exportBy(
  service: TrainingService,
  command: string,
  project_id: string,
  experiment_id: string,
) {
  const { records, environment, developer } = service;
  const settings = readSettings(environment);
  const project = await requireProject(records, project_id);
  const request = { source: { experiment_id, path: 'best' }, name: `m${newId()}`, trust_remote_code: false };
  const inputs = await exportInputs(request, project, { records, settings, keys: service.accounts });
  const stub = {
    entry_point_command: command,
    env_type: 'system',
    dependencies: 'none',
    version: 0,
  } as const;
  const context = { records, settings, project, newId, now: () => new Date() };
  const admitted = await recordExperiment(
    { ...inputs, ...{ vcpus: 1, memory: 2048 }, environment: stub },
    { ...context, caller: developer.user, idempotencyWrites: () => [] },
  );
  const batch = controlBatch.open({ environment, settings });
  const log = createLogger('error', () => {});
  await submitAdmitted(admitted, { ...context, batch, keys: service.accounts, log });
  return service.ended(project_id, admitted.record.experiment_id);
}

test('an export runs beside the artifacts that it reads, without secrets, and its end makes a model', async () => {
  const service = await trainingService();
  const files = { 'digits.onnx': onnxFixture('digits.onnx'), 'config.json': '{}' };
  const command =
    'sh -c "mkdir -p $OUTPUT_DIR/best/1_Pooling && cp *.json *.onnx $OUTPUT_DIR/best && cp config.json $OUTPUT_DIR/best/1_Pooling"';
  const project_id = await service.project({ command, files });
  const variables = [
    { name: 'HF_TOKEN', value: 'hf_abcdefgh' },
    { name: 'OTHER', value: 'a long secret' },
  ];
  await service.call(putVariables, { ...json({ variables }), path: { project_id }, as: service.developer });
  const begun = await service.call(train, {
    path: { project_id },
    query: { config: 'train.yaml' },
    as: service.developer,
  });
  expect(begun.status, begun.text).toBe(200);
  const { experiment_id } = await service.ended(project_id, begun.json.experiment_id);

  const shown = 'echo token $HF_TOKEN other [$OTHER]; ls start.py model/1_Pooling';
  const made = await exportBy(
    service,
    `sh -c "${shown}; cp model/digits.onnx $OUTPUT_DIR/model.onnx"`,
    project_id,
    experiment_id,
  );
  const refused = await exportBy(
    service,
    'sh -c "echo SomeError: a warning >&2; echo The model is gated. >&2; exit 2"',
    project_id,
    experiment_id,
  );

  expect(made.status, made.status_reason).toBe('SUCCEEDED');
  const log = await service.log(project_id, made.experiment_id);
  expect(log).toMatch(/^token \S*\*\S* other \[\]$/m);
  expect(log).not.toContain('hf_abcdefgh');
  expect(refused.status_reason).toBe('The model is gated.\nThe command ended with exit code 2.');
  const { model_export } = await requireExperiment(service.records, project_id, made.experiment_id);
  const model = await requireReadyModel(service.records, model_export?.model_name ?? '');
  expect(model.origin).toMatchObject({ kind: 'artifact', experiment_id: made.experiment_id });
  const { model_name } = await requireCompression(
    service.records,
    'quantize',
    model_export?.strategy_id ?? '',
  );
  expect(model_name).toBe(model.model_name);
});
