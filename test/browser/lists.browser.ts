import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeFindings } from './axe.ts';
import { type ConsoleService, settle, startConsole, visit } from './console-service.ts';
import { recordFiles } from './record-files.ts';
import { newProject, recordRun } from './record-run.ts';
import { trainFolder } from './seed.ts';

let service: ConsoleService;
let page: Page;

const program = `
import os
with open(os.environ["METRICS_FILE"], "w") as file:
    file.write('{"loss": 0.5, "step": 1}\\n' + "".join(f"epoch {n} of 5\\n" for n in range(5)))
`;
const onlyFile = `
import os
with open(os.path.join(os.environ["OUTPUT_DIR"], "weights.json"), "w") as file: file.write("[1]")
`;
const config = JSON.stringify(
  Object.fromEntries(Array.from({ length: 72 }, (_, index) => [`p${index}`, index])),
);
const many = (count: number, name: string, value: (index: number) => string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index}`, value(index)]));

let trained: { project_id: string; experiment_id: string };
beforeAll(async () => {
  service = await startConsole();
  trained = await trainFolder(
    service.url,
    service.client,
    { 'train.py': program, 'train.yaml': config },
    'warned',
  );
  page = await service.enter();
});
afterAll(() => service.close());

const button = (name: string | RegExp) => page.getByRole('button', { name });

test('a run says how many lines of METRICS_FILE are left out, and quotes the first three', async () => {
  await visit(page, `projects/${trained.project_id}/experiments/${trained.experiment_id}`);
  const warnings = page.getByRole('region', { name: /^Warning/ });
  const said = await warnings.innerText();
  expect(said).toContain('5 lines');
  for (const line of ['epoch 0 of 5', 'epoch 1 of 5', 'epoch 2 of 5']) expect(said).toContain(line);
  expect(said).not.toContain('epoch 3 of 5');
  expect(await axeFindings(page)).toEqual([]);
});

test('Home names the metric whose value it shows, also on a phone', async () => {
  const project_id = await newProject(service.client, 'named');
  const record = (name: string, status?: 'SUCCEEDED') =>
    recordRun(service.client, project_id, { name, metrics: { 'val/acc': [0.25, 0.75] }, status });
  await Promise.all([record('goes on'), record('has ended', 'SUCCEEDED')]);
  const phone = await service.enter({ width: 390 });
  for (const name of ['goes on', 'has ended']) {
    const text = phone.getByRole('link', { name }).first();
    await expect.poll(() => text.innerText()).toContain('0.75');
    expect(await text.innerText()).toContain('val/acc');
  }
  await phone.context().close();
});

test('a line of Home has the curve of its best metric beside its figure, however long the name is', async () => {
  const project_id = await newProject(service.client, 'drawn');
  const metric = 'validation/accuracy';
  const name = `run of a search for hyperparameters ${'with a long name '.repeat(4)}`.trim();
  await recordRun(service.client, project_id, {
    name,
    metrics: { [metric]: [0.2512345, 0.512345, 0.7512345] },
  });
  await visit(page, '');
  const line = page.locator('.line-link', { hasText: metric }).first();
  await line.locator('.sparkline').waitFor();
  await settle(page);
  const [figure, curve, whole] = await Promise.all(
    [line.locator('.number', { hasText: metric }), line.locator('.sparkline'), line].map((part) =>
      part.boundingBox(),
    ),
  );
  const rightOf = (box: typeof curve) => (box?.x ?? 0) + (box?.width ?? 0);
  expect(rightOf(figure ?? null)).toBeLessThanOrEqual(curve?.x ?? 0);
  expect(rightOf(curve ?? null)).toBeLessThan(rightOf(whole ?? null));
  expect(await line.locator('strong').innerText()).toBe(name);
});

test('the table has the curves of its rows without a request for them', async () => {
  const project_id = await newProject(service.client, 'with curves');
  for (let index = 0; index < 2; index += 1)
    await recordRun(service.client, project_id, {
      name: `run ${index}`,
      metrics: { accuracy: [0.1, 0.9, index] },
      status: 'SUCCEEDED',
    });
  const asked: string[] = [];
  const note = (request: { url(): string }) => asked.push(request.url());
  page.on('request', note);
  await visit(page, `projects/${project_id}?columns=course`);
  await expect.poll(() => page.locator('.row.body .sparkline').count()).toBe(2);
  page.off('request', note);
  expect(asked.filter((url) => /\/metrics(?:\?|$)/.test(url))).toEqual([]);
});

test('Start a training is the main action of a project that trains, and a plain one where programs run elsewhere', async () => {
  const project_id = await newProject(service.client, 'recorded elsewhere');
  const start = page.locator('.page-head a', { hasText: 'Start a training' });
  const look = () => start.getAttribute('class');
  await visit(page, `projects/${project_id}`);
  await expect.poll(look).toBe('button primary');
  await recordRun(service.client, project_id, { name: 'from a laptop', status: 'SUCCEEDED' });
  await visit(page, 'projects');
  await visit(page, `projects/${project_id}`);
  await expect.poll(look).toBe('button plain');
  await visit(page, `projects/${trained.project_id}`);
  await expect.poll(look).toBe('button primary');
});

test('the row of a project has the number of its experiments, and of those that have not ended', async () => {
  const project_id = await newProject(service.client, 'busy');
  for (const name of ['one', 'two']) await recordRun(service.client, project_id, { name });
  await recordRun(service.client, project_id, { name: 'three', status: 'SUCCEEDED' });
  await visit(page, 'projects');
  const row = (name: string) => page.locator('.listing tbody tr', { hasText: name });
  await expect.poll(() => row('busy').innerText()).toMatch(/busy\s+2 active[\s\S]*\t3\t/);
  expect(await row('warned').innerText()).not.toContain('active');
  await page.getByRole('button', { name: 'Experiments', exact: true }).click();
  await expect.poll(() => page.locator('.listing tbody tr').first().innerText()).toContain('busy');
});

test('nothing can be trained before there is a configuration and an environment', async () => {
  const project_id = await newProject(service.client, 'not ready');
  await visit(page, `projects/${project_id}/start`);
  await page.getByText('Save a configuration and an environment first.').waitFor();
  const train = page.getByRole('button', { name: 'Train', exact: true });
  expect(await train.isDisabled()).toBe(true);
  await visit(page, `projects/${trained.project_id}/start`);
  await expect.poll(() => train.isDisabled()).toBe(false);
});

test('a training waits until what was changed on its page is stored', async () => {
  await visit(page, `projects/${trained.project_id}/start`);
  const train = page.getByRole('button', { name: 'Train', exact: true });
  const editor = page.getByLabel('Content of train.yaml');
  const present = await editor.inputValue();
  const command = page.getByLabel('Command');
  const before = await command.inputValue();
  const save = page.locator('.step').nth(2).getByRole('button', { name: 'Save' });
  expect(await save.isDisabled()).toBe(true);

  await editor.fill(`${present}# changed\n`);
  await command.fill('python3 other.py');

  await page.getByText('Save the changed configuration and the changed environment first.').waitFor();
  expect(await train.isDisabled()).toBe(true);
  await editor.fill(present);
  await command.fill(before);
  await expect.poll(() => train.isDisabled()).toBe(false);
});

test('users fit on a phone with all that an admin can change', async () => {
  const phone = await service.enter({ width: 390 });
  await visit(phone, 'users');
  const users = phone.getByRole('group', { name: 'Users' });

  await users.getByRole('combobox', { name: 'Account type of admin' }).waitFor();
  await users.getByRole('button', { name: 'Budget' }).waitFor();

  expect(await users.evaluate((list) => list.scrollWidth - list.clientWidth)).toBe(0);
});

test('a dialog with a form begins at its first field', async () => {
  await visit(page, 'projects?new=1');
  await expect
    .poll(() => page.getByLabel('Name').evaluate((one) => one === document.activeElement))
    .toBe(true);
  await button('Close').click();
});

test('a loss that is chosen to rank by is best where it is least', async () => {
  const project_id = await newProject(service.client, 'judged');
  await visit(page, `projects/${project_id}/settings`);
  const goal = page.getByLabel('Best is').locator('option:checked');
  await expect.poll(() => goal.innerText()).toBe('the highest value');
  await page.getByLabel('Ranked by the metric').fill('val/loss');
  await expect.poll(() => goal.innerText()).toBe('the lowest value');
});

test('the only file of a run is shown without a choice', async () => {
  const made = await trainFolder(service.url, service.client, { 'train.py': onlyFile }, 'filed');
  await visit(page, `projects/${made.project_id}/experiments/${made.experiment_id}?tab=artifacts`);
  const file = page.getByRole('heading', { level: 2 }).filter({ hasText: 'weights.json' });
  await expect.poll(() => file.count()).toBe(1);
});

test('a list that is cut says how many more there are, and shows them', async () => {
  const project_id = await newProject(service.client, 'lengthy');
  const ids: string[] = [];
  for (const [index, name] of ['first', 'second'].entries())
    ids.push(
      await recordRun(service.client, project_id, {
        name,
        tags: many(42, 't', String),
        params: many(55, 'p', (at) => String(at + index)),
        metrics: { loss: [index] },
        status: 'SUCCEEDED',
      }),
    );
  await visit(page, `projects/${project_id}/experiments/${ids[0]}`);
  const tags = page.getByRole('list', { name: 'Tags' }).locator('.chip');
  await expect.poll(() => tags.count()).toBe(12);
  await button('and 30 more tags').click();
  await expect.poll(() => tags.count()).toBe(42);

  await visit(page, `projects/${project_id}/compare?experiments=${ids.join(',')}&tab=parallel`);
  const axes = page.locator('.parallel line.axis');
  await expect.poll(() => axes.count()).toBe(10);
  const boxes = page.locator('.axes input');
  await expect.poll(() => boxes.count()).toBe(40);
  await button('and 16 more axes').click();
  await expect.poll(() => boxes.count()).toBe(56);
  // Another takes the place of one that is drawn.
  await page.getByText('10 of 56 axes are drawn').waitFor();
  await page.locator('.axes label', { hasText: /^p54$/ }).locator('input').check();
  await expect.poll(() => page.locator('.parallel text.name').allTextContents()).toContain('p54');
});

test('the params of a run to repeat are all within reach', async () => {
  await visit(page, `projects/${trained.project_id}/experiments/${trained.experiment_id}`);
  await button('Run again').click();
  const params = page.locator('.param-grid .param');
  await expect.poll(() => params.count()).toBe(60);
  await button('and 12 more params').click();
  await expect.poll(() => params.count()).toBe(72);
  await button('Close').click();
});

test('nothing is taken from anybody without a question', async () => {
  await visit(page, 'account');
  await page.getByLabel('Name of a new token').fill('script');
  await button('Make a token').click();
  await button('Revoke script').click();
  const dialog = page.getByRole('dialog');
  expect(await dialog.innerText()).toContain('script');
  await dialog.getByRole('button', { name: 'Keep' }).click();
  expect(await button('Revoke script').count()).toBe(1);
  await button('Revoke script').click();
  await dialog.getByRole('button', { name: 'Revoke the token' }).click();
  await expect.poll(() => button('Revoke script').count()).toBe(0);
  await button('Sign out everywhere').click();
  await dialog.getByRole('button', { name: 'Keep' }).click();
  await expect.poll(() => dialog.count()).toBe(0);
  expect(await page.locator('.shell').count()).toBe(1);
});

test.each([
  ['experiments/01jzzzzzzzzzzzzzzzzzzzzzzz', 'There is no such experiment', 'Back to warned'],
  ['', 'There is no such project', 'Back to Projects'],
])('a page of something that is gone (%s) has a head, and a way back', async (place, title, back) => {
  const id = place === '' ? '01jzzzzzzzzzzzzzzzzzzzzzzz' : trained.project_id;
  await visit(page, `projects/${id}/${place}`);
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  await page.getByRole('link', { name: back }).click();
  await page.getByRole('heading', { level: 1, name: back.replace('Back to ', '') }).waitFor();
});

test('nothing of it made a script fail or broke the policy of the page', () => {
  expect(service.faults).toEqual([]);
});

test('a comparison offers every file that two experiments have, and says which are the same', async () => {
  const project_id = await newProject(service.client, 'files of two');
  const ids: string[] = [];
  for (const name of ['first', 'second']) {
    const experiment_id = await recordRun(service.client, project_id, { name, status: 'SUCCEEDED' });
    await recordFiles(
      service.client,
      { project_id, experiment_id },
      { 'same.txt': 'as it is', 'weights.bin': name, 'notes.md': `# The ${name}`, 'bad.png': 'no picture' },
    );
    ids.push(experiment_id);
  }
  await visit(page, `projects/${project_id}/compare?experiments=${ids.join(',')}&tab=files`);
  const second = page.getByRole('region', { name: 'second' });
  await second.getByText('The second').waitFor();
  await page.getByLabel('File').selectOption('weights.bin');
  await second.getByText('6 B').waitFor();
  const downloading = page.waitForEvent('download');
  await second.getByRole('button', { name: 'Download of second' }).click();
  await downloading;
  await page.getByLabel('File').selectOption('same.txt');
  await second.getByText('the same as in first').waitFor();
  await page.getByLabel('File').selectOption('bad.png');
  await second.getByText('Damaged, or not a picture').waitFor();
  expect(await axeFindings(page)).toEqual([]);
});
