import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { endpoint as readExperiment } from '../../functions/experiments/records/read-experiment.endpoint.ts';
import type { endpoint as createProject } from '../../functions/projects/projects/create-project.endpoint.ts';
import { axeFindings } from './axe.ts';
import { type ConsoleService, startConsole, visit } from './console-service.ts';
import { recordRun } from './record-run.ts';

let service: ConsoleService;
let page: Page;
let project_id: string;

beforeAll(async () => {
  service = await startConsole();
  ({ project_id } = await service.client.call<typeof createProject>('POST /projects/', {
    query: {
      'project-name': 'hub',
      'project-description': 'Exports.',
      'project-type': 'supervised',
      'project-task': 'classification',
    },
  }));
  page = await service.enter();
});
afterAll(() => service.close());

const button = (name: string) => page.getByRole('button', { name, exact: true });

test('a model of Hugging Face is begun from the list of models', async () => {
  await visit(page, 'models');
  await button('From Hugging Face').click();
  const model = page.getByLabel('Model', { exact: true });
  await model.fill('an-owner/a--model');
  await page.getByLabel('Project', { exact: true }).selectOption({ label: 'hub' });
  await page.getByLabel('Task').selectOption('fill-mask');
  await page.getByLabel('Processor or machine').selectOption('lambda');
  await page.getByLabel('Max loss').fill('1');
  await button('Start').click();
  await page.getByText('must be the name of a model of the Hub').waitFor();
  expect(await model.getAttribute('aria-invalid')).toBe('true');
  await model.fill('https://huggingface.co/an-owner/a-model/tree/v1.0');
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('a name');
  await button('Start').click();
  await page.getByText('must start with a letter or digit').waitFor();
  expect(await name.getAttribute('aria-invalid')).toBe('true');
  await name.fill('renamed');
  const command = `mps compress hf://an-owner/a-model@v1.0 --max-loss 0.01 --for lambda --task fill-mask --name renamed -p ${project_id}`;
  await page.getByText(command).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await button('Start').click();
  await page.getByRole('link', { name: 'an-owner/a-model@v1.0' }).waitFor();
  const experiment_id = /experiments\/(\w{26})/.exec(page.url())?.[1] ?? '';
  const path = { project_id, experiment_id };
  const { model_export } = await service.client.call<typeof readExperiment>(
    'GET /projects/{project_id}/experiments/{experiment_id}',
    { path },
  );
  expect(model_export?.source).toMatchObject({ hf: 'an-owner/a-model', revision: 'v1.0' });
  await page.getByText('renamed-small').waitFor();
  expect(await axeFindings(page)).toEqual([]);
});

test('the page of an export links what follows as soon as it has begun', async () => {
  const experiment_id = await recordRun(service.client, project_id, { name: 'export', status: 'SUCCEEDED' });
  let strategy_id: string | null = null;
  await page.route(`**/experiments/${experiment_id}`, async (route) => {
    const answer = await route.fetch();
    const source = { hf: 'an-owner/a-model', revision: null };
    const names = { model_name: 'a-model', result_name: 'a-model-small' };
    const json = { ...(await answer.json()), model_export: { source, ...names, strategy_id, reason: null } };
    await route.fulfill({ response: answer, json });
  });
  await visit(page, `projects/${project_id}/experiments/${experiment_id}`);
  await page.getByText('a-model-small').waitFor();
  const link = page.getByRole('link', { name: 'a-model-small' });
  expect(await link.count()).toBe(0);

  strategy_id = experiment_id;

  await link.waitFor();
  expect(await page.getByRole('link', { name: 'a-model', exact: true }).count()).toBe(1);
});

test('nothing of it made a script fail or broke the policy of the page', () => {
  expect(service.faults).toEqual([]);
});
