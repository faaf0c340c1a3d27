import { expect, test } from 'vitest';
import { shownStep } from '../../../shared/mlflow/protocol/scalars.ts';
import { readPoint } from '../../../shared/project-archive/lines.ts';
import { everySample } from '../../support/samples.ts';
import { testService } from '../../support/service.ts';
import { mlflowCaller } from '../mlflow/mlflow-caller.ts';
import { archiveLab, exported, imported } from './archive-lab.ts';

const service = await testService();
const caller = await service.user('developer');
const lab = archiveLab(service, caller.user);
const { post, call, get } = mlflowCaller(service, caller);

/** Answers that must be good, for else the archive would hold less than it is to hold. */
async function made(answer: ReturnType<typeof post>) {
  const { status, text, json } = await answer;
  expect([status, text.slice(0, 300)]).toEqual([200, expect.anything()]);
  return json;
}

/** Texts that grow most where they are escaped. */
const tildes = (count: number) => '~'.repeat(count);
const pairs = (count: number, value: string) =>
  Array.from({ length: count }, (_, index) => ({ key: `k${index}`, value }));

test('a project of an MLflow client that says nothing of it goes through an archive', async () => {
  const { experiment_id } = await made(post('experiments/create', { name: 'bare' }));
  const archive = await exported(lab, experiment_id);
  const { status_reason, project_id } = await imported(lab, archive);
  expect(status_reason).toBe(null);
  expect((await exported(lab, project_id)).equals(archive)).toBe(true);
});

test('numbers of 64 bits and -0 go through an archive as they were logged', async () => {
  const { experiment_id } = await made(post('experiments/create', { name: 'numbers' }));
  const { run } = await made(post('runs/create', { experiment_id }));
  const params = [
    { key: 'id', value: '12345678901234567890' },
    { key: 'seed', value: '-9223372036854775808' },
  ];
  const { run_id } = run.info;
  const point = '{"key": "loss", "value": -0.0, "timestamp": 1, "step": 9007199254740991}';
  const body = `{"run_id": "${run_id}", "params": ${JSON.stringify(params)}, "metrics": [${point}]}`;
  await made(call('POST', 'api/2.0/mlflow/runs/log-batch', { body }));
  await made(post('runs/update', { run_id, status: 'FINISHED' }));

  const { project_id } = await imported(lab, await exported(lab, experiment_id));

  const { runs } = await made(post('runs/search', { experiment_ids: [project_id] }));
  const [{ info, data }] = runs;
  expect(data.params).toEqual(params);
  expect(data.metrics).toMatchObject([{ value: '-0.0', step: 9_007_199_254_740_991 }]);
  const history = await get('metrics/get-history', { run_id: info.run_id, metric_key: 'loss' });
  expect(history.text).toContain('"value":"-0.0"');
});

test('a step of an archive that no double has is refused, and a greater one is shown as int64', () => {
  const line = (step: string) => readPoint(`["loss",0.5,${step},"2026-01-02T03:04:05.678Z"]`);

  expect(line('9007199254740993')).toBeUndefined();
  expect(line('9007199254740992')).toMatchObject({ step: 2 ** 53 });
  expect([2 ** 53, 2 ** 63, -(2 ** 63), null].map(shownStep)).toEqual([
    '9007199254740992',
    '9223372036854775807',
    '-9223372036854775808',
    0,
  ]);
});

test.runIf(everySample)('what MLflow’s clients record at their limits goes through an archive', async () => {
  const name = `\u202e\n${tildes(498)}`;
  const note = { key: 'mlflow.note.content', value: `line\u0000\n${tildes(19_000)}` };
  const { experiment_id } = await made(
    post('experiments/create', { name, tags: [note, ...pairs(3, tildes(14_000))] }),
  );
  const { run } = await made(
    post('runs/create', { experiment_id, run_name: tildes(250), tags: pairs(30, tildes(8000)) }),
  );
  const { run_id } = run.info;
  const dataset = { name: 'd', digest: '1', source_type: 'http', source: `https://${tildes(30_000)}` };
  const wide = { ...dataset, name: 'wide', schema: tildes(700_000), profile: '{}' };
  await made(
    post('runs/log-inputs', { run_id, datasets: [dataset, wide].map((one) => ({ dataset: one, tags: [] })) }),
  );
  await made(post('runs/log-batch', { run_id, params: pairs(3, tildes(6000)) }));
  await made(post('runs/update', { run_id, status: 'FINISHED' }));
  const logged = await made(
    post('logged-models', {
      ...{ experiment_id, name: 'model', model_type: tildes(2000), source_run_id: run_id },
      tags: pairs(1, tildes(120_000)),
      params: pairs(20, tildes(6000)),
    }),
  );
  const { model_id } = logged.model.info;
  await made(post('registered-models/create', { name: tildes(256), tags: pairs(3, tildes(99_000)) }));
  const version = { name: tildes(256), source: `models:/${model_id}`, model_id, run_id };
  await made(post('model-versions/create', { ...version, tags: pairs(3, tildes(99_000)) }));
  const archive = await exported(lab, experiment_id);
  const other = await service.user('developer');
  const { status_reason, project_id } = await imported(archiveLab(service, other.user), archive);
  expect(status_reason).toBe(null);
  expect((await exported(lab, project_id)).equals(archive)).toBe(true);
  const shown = await get('experiments/get', { experiment_id: project_id });
  expect(shown.json.experiment.name).toBe(name);
  await call('DELETE', 'api/2.0/mlflow/registered-models/delete', {
    body: JSON.stringify({ name: tildes(256) }),
  });
});
