import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { endpoint as createModel } from '../../functions/optimization/models/create-model.endpoint.ts';
import { axeFindings } from './axe.ts';
import { type ConsoleService, startConsole, visit } from './console-service.ts';
import { prune } from './record-compression.ts';
import { recordFiles } from './record-files.ts';
import { modelBytes } from './record-model.ts';
import { newProject, recordRun } from './record-run.ts';

let service: ConsoleService;
let page: Page;
let run: { project_id: string; experiment_id: string };

beforeAll(async () => {
  service = await startConsole();
  const { client } = service;
  const project_id = await newProject(client, 'lines');
  const metrics = { accuracy: [0.5, 0.875] };
  run = {
    project_id,
    experiment_id: await recordRun(client, project_id, { name: 'the source', metrics, status: 'SUCCEEDED' }),
  };
  await recordFiles(client, run, { 'out/digits.onnx': await modelBytes('digits.onnx') });
  await client.call<typeof createModel>('POST /optimization/models/{model_name}', {
    path: { model_name: 'digits' },
    query: { experiment_id: run.experiment_id, path: 'out/digits.onnx' },
  });
  await prune(client, 'digits', '2', 'digits-half');
  await prune(client, 'digits-half', '4');
  page = await service.enter();
});
afterAll(() => service.close());

const experiment = () => `projects/${run.project_id}/experiments/${run.experiment_id}`;
const origin = (on: Page) => on.getByRole('navigation', { name: 'Origin of the model' });

test('an experiment leads to its models and to their compressed versions', async () => {
  await visit(page, experiment());
  const models = page.getByRole('region', { name: 'Models' });
  await expect
    .poll(() => models.getByRole('link').allInnerTexts())
    .toEqual(['digits', 'magnitude_global ÷2, magnitude_global ÷4', 'magnitude_global ÷2']);
  expect(await axeFindings(page)).toEqual([]);
  await models.getByRole('link', { name: 'magnitude_global ÷2', exact: true }).click();
  await page.getByRole('heading', { name: 'digits', level: 1 }).waitFor();
  await page.locator('.receipt-bar').first().waitFor();
});

test('a compressed version leads back over the original to the experiment and its value', async () => {
  await visit(page, 'models/digits-half');
  await expect
    .poll(() =>
      origin(page)
        .innerText()
        .then((text) => text.replaceAll(/\s+/g, ' ').trim()),
    )
    .toBe('Experiment the source accuracy 0.875 digits digits-half');
  expect(await axeFindings(page)).toEqual([]);
  await origin(page).getByRole('link', { name: 'digits', exact: true }).click();
  await page.getByRole('heading', { name: 'digits', level: 1 }).waitFor();
  await origin(page).getByRole('link', { name: 'the source' }).click();
  await page.getByRole('heading', { name: 'the source', level: 1 }).waitFor();
  expect(new URL(page.url()).hash).toContain(experiment());
});
