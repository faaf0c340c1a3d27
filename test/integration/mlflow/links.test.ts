import { beforeAll, describe, expect, test } from 'vitest';
import { foldCatalogue } from '../../../shared/data/experiments/fold-catalogue.ts';
import { type TestService, testService } from '../../support/service.ts';
import { type MlflowCaller, mlflowCaller, newRun } from './mlflow-caller.ts';

let service: TestService;
let ada: MlflowCaller;
beforeAll(async () => {
  service = await testService();
  ada = mlflowCaller(service, await service.user('developer'));
});

const dataset = (name: string, context: string, more: object = {}) => ({
  dataset: { name, digest: `d-${name}`, source_type: 'http', source: 'https://example.com', ...more },
  tags: [{ key: 'mlflow.data.context', value: context }],
});
const logInputs = (run_id: string, ...datasets: object[]) =>
  ada.post('runs/log-inputs', { run_id, datasets });

describe('data sets that a run has read', () => {
  test('find it, whether its row is of the catalogue or of its records, and are shown with it', async () => {
    const { experiment_id, run_id: first } = await newRun(ada);
    const create = async () => (await ada.post('runs/create', { experiment_id })).json.run.info.run_id;
    const [second, plain]: string[] = [await create(), await create()];
    await logInputs(first, dataset('train', 'training'), dataset('other', 'eval'));
    await logInputs(second ?? '', dataset('other', 'test'));
    await ada.post('runs/outputs', { run_id: second, models: [{ model_id: 'm-1', step: 3 }] });
    const find = async (filter: string) => {
      const { json } = await ada.post('runs/search', { experiment_ids: [experiment_id], filter });
      return json.runs.map((run: { info: { run_id: string } }) => run.info.run_id).sort();
    };
    const checkAll = async () => {
      expect(await find("dataset.name = 'train'")).toEqual([first]);
      expect(await find("datasets.digest IN ('d-other',)")).toEqual([first, second].sort());
      expect(await find("datasets.context ILIKE 'TEST%' AND dataset.name = 'other'")).toEqual([second]);
      expect(await find("dataset.name = 'none'")).toEqual([]);
      const { json } = await ada.post('runs/search', { experiment_ids: [experiment_id] });
      const shown = new Map(json.runs.map((run: { info: { run_id: string } }) => [run.info.run_id, run]));
      expect(shown.get(first)).toMatchObject({
        inputs: { dataset_inputs: [dataset('train', 'training'), dataset('other', 'eval')] },
      });
      expect(shown.get(second)).toMatchObject({ outputs: { model_outputs: [{ model_id: 'm-1', step: 3 }] } });
      expect(shown.get(plain)).toMatchObject({ inputs: { dataset_inputs: [] } });
    };
    await checkAll();
    for (const run_id of [first, second, plain])
      await ada.post('runs/update', { run_id, status: 'FINISHED' });
    await foldCatalogue(service.records, experiment_id, { milliseconds: 60_000 });
    await checkAll();
    const ordered = await ada.post('runs/search', {
      experiment_ids: [experiment_id],
      order_by: ['dataset.name'],
    });
    expect([ordered.status, ordered.json.error_code]).toEqual([400, 'INVALID_PARAMETER_VALUE']);
  });

  test('stay as they were logged first', async () => {
    const { run_id } = await newRun(ada);
    await logInputs(run_id, dataset('train', 'training', { profile: 'first' }));
    await logInputs(run_id, dataset('train', 'eval', { profile: 'second' }), dataset('more', 'eval'));
    const { json } = await ada.get('runs/get', { run_id });
    expect(json.run.inputs.dataset_inputs).toEqual([
      dataset('train', 'training', { profile: 'first' }),
      dataset('more', 'eval'),
    ]);
    const long = await logInputs(run_id, dataset('long', 'x'.repeat(501)));
    expect([long.status, long.json.message]).toEqual([400, expect.stringContaining('maximum length of 500')]);
  });
});

describe('long texts of data sets', () => {
  test('take no room from params, whether they come in one request or in many', async () => {
    const { run_id, experiment_id } = await newRun(ada);
    const wide = dataset('wide', 'training', { schema: '"'.repeat(390_000) });
    const many = Array.from({ length: 200 }, (_, index) =>
      dataset(`d${index}`, 'eval', { schema: 's'.repeat(5000), profile: `${index}` }),
    );

    const answers = [await logInputs(run_id, wide), await logInputs(run_id, ...many.slice(0, 190))];
    for (const one of many.slice(190)) answers.push(await logInputs(run_id, one));
    const params = Array.from({ length: 40 }, (_, index) => ({ key: `p${index}`, value: 'x'.repeat(6000) }));
    answers.push(await ada.post('runs/log-batch', { run_id, params }));

    expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(() => [200, '{}']));
    const { json } = await ada.get('runs/get', { run_id });
    expect(json.run.inputs.dataset_inputs).toEqual([wide, ...many]);
    const found = await ada.post('runs/search', { experiment_ids: [experiment_id] });
    expect(found.json.runs[0].inputs.dataset_inputs[0]).toMatchObject({ dataset: { name: 'wide' } });
    expect(found.json.runs[0].inputs.dataset_inputs[0].dataset).not.toHaveProperty('texts');
  });

  test('have a limit of their own, and its refusal names the longest', async () => {
    const { run_id } = await newRun(ada);

    const refused = await logInputs(run_id, dataset('wide', 'training', { profile: 'p'.repeat(3_600_000) }));

    expect(refused.status).toBe(400);
    expect(refused.json.message).toMatch(
      /^datasets: brings .* at most 3500000 are allowed\. The longest is the profile of "wide", with 36/,
    );
    expect((await ada.get('runs/get', { run_id })).json.run.inputs.dataset_inputs).toEqual([]);
  });
});

describe('a run', () => {
  test('is deleted and restored by whoever does so twice', async () => {
    const { run_id } = await newRun(ada);
    for (const path of ['runs/restore', 'runs/delete', 'runs/delete', 'runs/restore', 'runs/restore'])
      expect([path, (await ada.post(path, { run_id })).status]).toEqual([path, 200]);
    expect((await ada.get('runs/get', { run_id })).json.run.info.lifecycle_stage).toBe('active');
  });

  test('loses its note like a tag, and never its name', async () => {
    const { run_id } = await newRun(ada);
    await ada.post('runs/set-tag', { run_id, key: 'mlflow.note.content', value: 'a note' });
    const remove = async (key: string) => (await ada.post('runs/delete-tag', { run_id, key })).status;
    expect([await remove('mlflow.note.content'), await remove('mlflow.note.content')]).toEqual([200, 404]);
    expect(await remove('mlflow.runName')).toBe(200);
    const { json } = await ada.get('runs/get', { run_id });
    expect(json.run.data.tags.map(({ key }: { key: string }) => key)).toEqual(['mlflow.runName']);
  });

  test('is scheduled until its client begins it, as a study of Optuna has its trials', async () => {
    const { run_id, experiment_id } = await newRun(ada);
    const scheduled = await ada.post('runs/update', { run_id, status: 'SCHEDULED' });
    expect(scheduled.json.run_info.status).toBe('SCHEDULED');
    const search = { experiment_ids: [experiment_id], filter: "status = 'SCHEDULED'" };
    expect((await ada.post('runs/search', search)).json.runs).toHaveLength(1);
    const metric = { run_id, key: 'a', value: 1, timestamp: 1 };
    expect((await ada.post('runs/log-metric', metric)).status).toBe(200);
    const running = await ada.post('runs/update', { run_id, status: 'RUNNING' });
    expect(running.json.run_info.status).toBe('RUNNING');
    const ended = await ada.post('runs/update', { run_id, status: 'FINISHED' });
    expect(ended.json.run_info).toMatchObject({ status: 'FINISHED', end_time: expect.any(Number) });
  });
});

test('a version of a logged model is of the run that made the model', async () => {
  const { run_id: source_run_id, experiment_id } = await newRun(ada);
  const made = await ada.post('logged-models', { experiment_id, name: 'm', source_run_id });
  const { model_id } = made.json.model.info;
  await ada.post('registered-models/create', { name: 'linked' });
  const version = { name: 'linked', source: `models:/${model_id}`, model_id };
  const { json } = await ada.post('model-versions/create', version);
  expect(json.model_version).toMatchObject({ model_id, run_id: source_run_id });
});

test('versions that are archived for another one change at its moment', async () => {
  const name = 'moved';
  await ada.post('registered-models/create', { name });
  for (const version of ['1', '2']) {
    await ada.post('model-versions/create', { name, source: 's3://models/moved' });
    const stage = { name, version, stage: 'Staging', archive_existing_versions: true };
    await ada.post('model-versions/transition-stage', stage);
  }
  const { json } = await ada.get('model-versions/search', { filter: `name = '${name}'` });
  const [one, other] = json.model_versions;
  expect([one.current_stage, other.current_stage].sort()).toEqual(['Archived', 'Staging']);
  expect(one.last_updated_timestamp).toBe(other.last_updated_timestamp);
});

test('logged models are ordered by what was measured on a data set of some digest', async () => {
  const { run_id, experiment_id } = await newRun(ada);
  const ids: string[] = [];
  for (const [one, other] of [
    [1, 8],
    [2, 7],
  ]) {
    const made = await ada.post('logged-models', { experiment_id });
    const { model_id } = made.json.model.info;
    ids.push(model_id);
    const metric = { run_id, key: 'acc', timestamp: 1, model_id };
    await ada.post('runs/log-metric', { ...metric, value: one, dataset_name: 'a', dataset_digest: 'da' });
    await ada.post('runs/log-metric', { ...metric, value: other, dataset_name: 'b', dataset_digest: 'db' });
  }
  const order = async (dataset_digest: string) => {
    const order_by = [{ field_name: 'metrics.acc', dataset_digest }];
    const { json } = await ada.post('logged-models/search', { experiment_ids: [experiment_id], order_by });
    return json.models.map(({ info }: { info: { model_id: string } }) => info.model_id);
  };
  expect([await order('da'), await order('db')]).toEqual([ids, ids.toReversed()]);
});
