import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { endpoint as createUser } from '../../functions/users/create-user.endpoint.ts';
import { axeFindings } from './axe.ts';
import { type ConsoleService, settle, signIn, startConsole, visit } from './console-service.ts';
import { newProject, recordRun } from './record-run.ts';

let service: ConsoleService;
let page: Page;
const password = 'a long sentence for them all';

/** Ask MLflow's API as its clients do. */
async function mlflow(path: string, body: object): Promise<void> {
  const { username } = service.admin;
  const credentials = Buffer.from(`${username}:${service.admin.password}`).toString('base64');
  const { ok, status } = await fetch(`${service.url}/mlflow/api/2.0/mlflow/${path}`, {
    method: 'POST',
    headers: { Authorization: `Basic ${credentials}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!ok) throw new Error(`${path}: ${status}`);
}

beforeAll(async () => {
  service = await startConsole();
  const { client } = service;
  const project_id = await newProject(client, 'lines');
  await mlflow('registered-models/create', { name: 'churn', description: 'Who leaves' });
  for (const value of [0.75, 0.875]) {
    const metrics = { accuracy: [0.5, value] };
    const experiment_id = await recordRun(client, project_id, {
      name: `run of ${value}`,
      metrics,
      status: 'SUCCEEDED',
    });
    const run_id = `${project_id}-${experiment_id}`;
    await mlflow('model-versions/create', { name: 'churn', source: 's3://models/churn', run_id });
  }
  await mlflow('registered-models/alias', { name: 'churn', alias: 'champion', version: '1' });
  await client.call<typeof createUser>('POST /users/', {
    fields: { username: 'vera', account_type: 'viewer' },
    body: { password },
  });
  page = await service.enter();
});
afterAll(() => service.close());

const rows = (on: Page) =>
  on
    .getByRole('region', { name: 'Versions' })
    .locator('tbody tr')
    .evaluateAll((all) =>
      all.map((one) => [...one.children].slice(0, 4).map((cell) => cell.textContent?.trim())),
    );

test('a registered name leads to its versions, newest first, with aliases and experiments', async () => {
  await visit(page, 'models');
  await page.getByRole('link', { name: 'churn' }).click();
  await expect
    .poll(() => rows(page))
    .toEqual([
      ['2', '', 'run of 0.875', '0.875'],
      ['1', 'champion', 'run of 0.75', '0.75'],
    ]);
  await page.getByRole('columnheader', { name: 'Best accuracy' }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
});

test('the best values of the versions are a plot, whose points lead to their experiments', async () => {
  await visit(page, 'registry/churn');
  const plot = page.getByRole('img', { name: /^Best accuracy of 2 versions\./ });
  await plot.focus();

  await page.keyboard.press('End');
  await page.getByText('version 2, run of 0.875').waitFor();
  await page.keyboard.press('Enter');

  await page.getByRole('heading', { name: 'run of 0.875' }).waitFor();
  expect(page.url()).toContain('/experiments/');
});

test('an alias moves to another version, is removed, and each is undone', async () => {
  await visit(page, 'registry/churn');
  const row = (version: string) => page.getByRole('row').filter({ hasText: `run of ${version}` });
  const undo = () => page.getByRole('button', { name: 'Undo' }).last().click();
  await row('0.875').getByRole('button', { name: 'Promote' }).click();
  await page.getByRole('combobox', { name: 'Alias' }).fill('champion');
  await page.getByText('The alias moves here from version 1.').waitFor();
  await page.getByText('models:/churn@champion').waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole('button', { name: 'Move the alias', exact: true }).click();
  await row('0.875').locator('.alias').waitFor();
  await expect.poll(() => row('0.75').locator('.alias').count()).toBe(0);
  await undo();
  await row('0.75').locator('.alias').waitFor();
  await row('0.75').getByRole('button', { name: 'Remove the alias champion' }).click();
  await expect.poll(() => page.locator('.alias').count()).toBe(0);
  await undo();
  await row('0.75').locator('.alias').waitFor();
});

test('the table of versions fits a phone, with the aliases below the experiments', async () => {
  const own = await service.enter({ width: 390 });
  await visit(own, 'registry/churn');
  await own.locator('.alias').waitFor();
  await settle(own);
  const hidden = await own
    .locator('.scroll-x')
    .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);

  expect(hidden).toBe(0);
  expect(await own.getByRole('button', { name: 'Promote version 2' }).isVisible()).toBe(true);
  expect(await axeFindings(own)).toEqual([]);
  await own.context().close();
});

test('a viewer sees the aliases and no button that changes them', async () => {
  const own = await service.open();
  await signIn(own, { username: 'vera', password });
  await visit(own, 'registry/churn');
  await expect.poll(() => own.locator('.alias').count()).toBe(1);
  expect(await own.getByRole('button', { name: /Promote|Remove/ }).count()).toBe(0);
  await own.context().close();
});

test('nothing of it made a script fail or broke the policy of the page', () => {
  expect(service.faults).toEqual([]);
});
