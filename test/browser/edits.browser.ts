import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { endpoint as putConfig } from '../../functions/projects/configs/put-config.endpoint.ts';
import { axeFindings } from './axe.ts';
import { type ConsoleService, startConsole, visit } from './console-service.ts';
import { newProject, recordRun } from './record-run.ts';

let service: ConsoleService;
let page: Page;
let project_id: string;

beforeAll(async () => {
  service = await startConsole();
  project_id = await newProject(service.client, 'edited');
  for (const config_id of ['one.yaml', 'two.yaml'])
    await service.client.call<typeof putConfig>('PUT /projects/{project_id}/configs/{config_id}', {
      path: { project_id, config_id },
      file: new TextEncoder().encode('epochs: 5\n'),
    });
  page = await service.enter();
});
afterAll(() => service.close());

const question = () => page.getByRole('dialog', { name: 'Discard what you typed?' });
const answer = async (name: 'Keep' | 'Discard') => {
  await question().getByRole('button', { name, exact: true }).click();
  await question().waitFor({ state: 'detached' });
};

test('a link, Back and another file ask before they lose a configuration that is being written', async () => {
  const editor = page.getByLabel('Content of one.yaml');
  await visit(page, `projects/${project_id}`);
  await visit(page, `projects/${project_id}/start`);
  const address = page.url();
  await page.getByLabel('Configuration', { exact: true }).selectOption('one.yaml');
  await editor.fill('epochs: 6\n');

  await page.getByRole('link', { name: 'Models' }).click();
  await question().waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await answer('Keep');
  expect(page.url()).toBe(address);
  await page.goBack();
  await answer('Keep');
  expect(page.url()).toBe(address);
  await page.getByLabel('Configuration', { exact: true }).selectOption('two.yaml');
  await answer('Keep');
  expect(await editor.inputValue()).toBe('epochs: 6\n');

  await page.goBack();
  await answer('Discard');
  await page.waitForURL(/projects\/\w{26}$/);
  await page.goForward();
  await page.getByLabel('Configuration', { exact: true }).selectOption('one.yaml');
  await expect.poll(() => editor.inputValue()).toBe('epochs: 5\n');
});

test('a text that was stored, or written back as it was, is no edit', async () => {
  const editor = page.getByLabel('Content of one.yaml');
  await visit(page, `projects/${project_id}/start`);
  await page.getByLabel('Configuration', { exact: true }).selectOption('one.yaml');
  await editor.fill('epochs: 7\n');
  await page.getByRole('button', { name: 'Save', exact: true }).first().click();
  await page.getByText('one.yaml is stored as version 2').waitFor();
  await page.getByLabel('Command').fill('python3 other.py');
  await page.getByLabel('Command').fill('python3 train.py {config}');

  await page.getByRole('link', { name: 'Models' }).click();

  await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor();
  expect(await question().count()).toBe(0);
});

test('a dialog, the tabs of a project and a sign-out ask, too', async () => {
  const experiment_id = await recordRun(service.client, project_id, { name: 'noted', status: 'SUCCEEDED' });
  await visit(page, `projects/${project_id}/experiments/${experiment_id}`);
  await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  const edit = page.getByRole('dialog', { name: 'Edit the experiment' });
  await edit.getByLabel('Name', { exact: true }).fill('another');
  await page.keyboard.press('Escape');
  await answer('Keep');
  // A second Escape answers the question, and the dialog stays.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await question().waitFor({ state: 'detached' });
  expect(await edit.getByLabel('Name', { exact: true }).inputValue()).toBe('another');
  await edit.getByRole('button', { name: 'Close' }).click();
  await answer('Discard');
  await edit.waitFor({ state: 'detached' });

  await visit(page, `projects/${project_id}/settings`);
  await page.getByLabel('Description', { exact: true }).fill('Half a senten');
  await page.getByRole('link', { name: 'Experiments' }).click();
  await answer('Keep');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await answer('Keep');
  expect(await page.getByLabel('Description', { exact: true }).inputValue()).toBe('Half a senten');
  const asked = page.waitForEvent('dialog');
  const reload = page.reload({ timeout: 2_000 }).catch(() => undefined);
  expect((await asked).type()).toBe('beforeunload');
  await reload;
  await page.getByRole('link', { name: 'Experiments' }).click();
  await answer('Discard');
  await page.getByRole('link', { name: 'noted' }).waitFor();
  expect(service.faults).toEqual(['dialog: ']);
});

test('what an upload or a deletion took is no edit', async () => {
  await visit(page, `projects/${project_id}/files`);
  await page.getByLabel('Name of a new data set, or a new version of one').fill('numbers');
  await page
    .locator('.upload-row input[type=file]')
    .setInputFiles({ name: 'any.csv', mimeType: 'text/csv', buffer: Buffer.from('1,2\n') });
  await page.getByRole('rowheader', { name: 'numbers' }).waitFor();
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByLabel('Description', { exact: true }).fill('Not needed any more');
  await page.getByRole('button', { name: 'Delete the project' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();

  await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor();

  expect(await question().count()).toBe(0);
});
