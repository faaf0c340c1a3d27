import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { endpoint as readProject } from '../../functions/projects/projects/read-project.endpoint.ts';
import { axeFindings } from './axe.ts';
import { type ConsoleService, settle, startConsole, visit } from './console-service.ts';
import { newProject, recordRun } from './record-run.ts';

const shots = join(import.meta.dirname, '../../.build/screenshots');

let service: ConsoleService;
let page: Page;
let project_id: string;
let diverged: string;

beforeAll(async () => {
  await mkdir(shots, { recursive: true });
  service = await startConsole();
  project_id = await newProject(service.client, 'ruled');
  page = await service.enter();
  await visit(page, `projects/${project_id}/settings`);
});
afterAll(() => service.close());

const rules = async () => {
  const found = await service.client.call<typeof readProject>('GET /projects/{project_id}', {
    path: { project_id },
  });
  return 'rules' in found ? found.rules : undefined;
};

const field = (name: string) => page.getByLabel(name, { exact: true });

/** Text under a field that it is described by. */
const about = async (name: string): Promise<string> => {
  const id = await field(name).getAttribute('aria-describedby');
  return page.locator(`[id="${id}"]`).innerText();
};

test('a rule with faults says all of them at their fields, in the words of the service', async () => {
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await field('When').selectOption('above');
  await field('Above').fill('much');
  await field('For').fill('a while');
  await page.getByRole('button', { name: 'Add the rule' }).click();
  await page.locator('[aria-invalid]').first().waitFor();
  const said = await Promise.all(['Metric', 'Above', 'For'].map(about));

  expect(said).toEqual([
    'must be the name of a metric, of at most 250 characters',
    'must be a number',
    'must be a number of evaluations, such as 10 evaluations, or a duration, such as 90s, 30m or 2h',
  ]);
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(await axeFindings(page)).toEqual([]);
  expect(await rules()).toEqual([]);
});

test('a rule is added, changed and removed', async () => {
  await field('Metric').fill('loss');
  await field('Above').fill('10');
  await field('For').fill('2 evaluations');
  await page.getByRole('button', { name: 'Add the rule' }).click();
  await page.getByText('loss > 10 for 2 evaluations').waitFor();
  const added = await rules();
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await field('When').selectOption('silent');
  await field('For').fill('30m');
  await field('Then').selectOption('notify');
  await page.getByRole('button', { name: 'Add the rule' }).click();
  await page.getByRole('button', { name: 'Change silent: 30m' }).click();
  await field('When').selectOption('no improvement');
  await field('Metric').fill('fitness');
  await field('For').fill('10 evaluations');
  await page.getByRole('button', { name: 'Save the rule' }).click();
  await page.locator('[aria-invalid]').first().waitFor();
  const goal = await about('Goal');
  await field('Goal').selectOption('maximize');
  await page.getByRole('button', { name: 'Save the rule' }).click();
  await page.getByText('no improvement: fitness for 10 evaluations (maximize)').waitFor();
  const changed = await rules();
  await page.getByRole('button', { name: /^Delete no improvement/ }).click();
  await page.getByRole('button', { name: 'Delete the rule' }).click();
  await page.getByText('no improvement: fitness').waitFor({ state: 'detached' });
  const removed = await rules();

  const bound = { above: { metric: 'loss', value: 10, for: '2 evaluations' }, do: 'stop' };
  expect(added).toEqual([bound]);
  expect(goal).toContain('is required: maximize or minimize');
  expect(changed).toEqual([
    bound,
    { 'no improvement': { metric: 'fitness', for: '10 evaluations', goal: 'maximize' }, do: 'notify' },
  ]);
  expect(removed).toEqual([bound]);
});

test('the page of a run says which rules watch it, and which ended it', async () => {
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await field('Metric').fill('loss');
  await page.getByRole('button', { name: 'Add the rule' }).click();
  await page.getByText('nan: loss').waitFor();
  diverged = await recordRun(service.client, project_id, {
    name: 'diverged',
    metrics: { loss: [1, 20, 30] },
  });
  await visit(page, `projects/${project_id}/experiments/${diverged}`);
  const panel = page.getByRole('region', { name: 'Rules' });
  await panel.getByText('Ended this run').waitFor();
  const text = await panel.innerText();

  expect(text).toContain('loss was 30 at step 2, above 10 for 2 evaluations.');
  expect(text).toMatch(/nan: loss\s+Stops the run, a rule of the project\. It was not met\./);
  expect(await axeFindings(page)).toEqual([]);
  expect(service.faults).toEqual([]);
});

test.each([
  { width: 1440, scheme: 'light' },
  { width: 1440, scheme: 'dark' },
  { width: 390, scheme: 'light' },
  { width: 390, scheme: 'dark' },
] as const)('the rules fit in a window of $width pixels, $scheme', async (look) => {
  const own = await service.enter(look);
  await visit(own, `projects/${project_id}/settings`);
  await own.getByRole('button', { name: 'Change loss > 10 for 2 evaluations' }).click();
  await settle(own);
  const shot = (name: string) =>
    own.screenshot({ path: join(shots, `${name}-${look.width}-${look.scheme}.png`), fullPage: true });
  await shot('rules');
  const [widest, findings] = [
    await own.evaluate(() => document.documentElement.scrollWidth),
    await axeFindings(own),
  ];
  await visit(own, `projects/${project_id}/experiments/${diverged}`);
  await own.getByRole('region', { name: 'Rules' }).waitFor();
  await shot('run-rules');
  await own.context().close();

  expect(widest).toBeLessThanOrEqual(look.width);
  expect(findings).toEqual([]);
});
