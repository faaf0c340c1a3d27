import { expect, test } from 'vitest';
import { corpus } from '../../support/injection/corpus.ts';
import { sample } from '../../support/injection/sample.ts';
import { together } from '../../support/injection/together.ts';
import { testService } from '../../support/service.ts';
import { mlflowCaller, newRun } from './mlflow-caller.ts';

/** Characters of a tag's value that MLflow's own server keeps: it shortens what is longer. */
const maxValue = 8000;

test('hostile texts in the fields of MLflow’s API are kept as they are, or refused', async () => {
  const service = await testService({ LOG_LEVEL: 'error' });
  const { user } = await service.user('developer');
  const caller = mlflowCaller(service, await service.user('developer'));
  const { experiment_id, run_id } = await newRun(caller);
  const neighbour = { user_id: user.user_id, username: user.username, project_id: experiment_id };
  const files = `api/2.0/mlflow-artifacts/artifacts/${experiment_id}/${run_id}/artifacts`;
  let taken = 0;
  await together(sample(corpus(neighbour), 3), 8, async (text, lane) => {
    const pair = { key: text, value: text };
    const ids = { experiment_ids: [experiment_id] };
    const answers = {
      tag: await caller.post('runs/set-tag', { run_id, key: `lane ${lane}`, value: text }),
      param: await caller.post('runs/log-batch', { run_id, params: [pair], tags: [pair] }),
      metric: await caller.post('runs/log-metric', { run_id, key: text, value: text, timestamp: text }),
      history: await caller.get('metrics/get-history', { run_id, metric_key: text, page_token: text }),
      run: await caller.get('runs/get', { run_id: text }),
      filter: await caller.post('runs/search', { ...ids, filter: text, order_by: [text] }),
      value: await caller.post('runs/search', { ...ids, filter: `tags.x = '${text}'`, page_token: text }),
      experiment: await caller.get('experiments/get-by-name', { experiment_name: text }),
      model: await caller.post('registered-models/create', { name: text, description: text, tags: [pair] }),
      version: await caller.post('model-versions/create', { name: text, source: text, run_id: text }),
      logged: await caller.post('logged-models', { experiment_id, name: text, params: [pair], tags: [pair] }),
      models: await caller.post('logged-models/search', { ...ids, filter: text }),
      file: await caller.call('PUT', `${files}/${text.toWellFormed()}`, { body: text }),
      parts: await caller.call('POST', `api/2.0/mlflow-artifacts/mpu/create/${experiment_id}`, {
        body: JSON.stringify({ path: text, num_parts: 1 }),
      }),
      list: await caller.get('artifacts/list', { run_id, path: text }),
    };
    for (const [what, { status, text: answer }] of Object.entries(answers))
      if (status >= 500) throw new Error(`${what} ${JSON.stringify(text)}: ${answer}`);
    if (answers.tag.status !== 200) return;
    taken += 1;
    const { json } = await caller.get('runs/get', { run_id });
    const tags: { key: string; value: string }[] = json.run.data.tags;
    expect(tags.find(({ key }) => key === `lane ${lane}`)?.value).toBe([...text].slice(0, maxValue).join(''));
  });
  expect(taken).toBeGreaterThan(10);
});
