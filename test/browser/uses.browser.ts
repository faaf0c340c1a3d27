import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordMany } from '../../infra/tools/demo/record-many.ts';
import { type ConsoleService, startConsole } from './console-service.ts';
import { type Hands, keyboard, mouse } from './hands.ts';

let service: ConsoleService;
let folder: string;
const root = join(import.meta.dirname, '../..');
const model = join(root, 'test/fixtures/onnx/digits.onnx');

beforeAll(async () => {
  service = await startConsole();
  await recordMany(service.client, 12, { name: 'search' });
  folder = await mkdtemp(join(tmpdir(), 'console-files-'));
  execFileSync('tar', ['czf', join(folder, 'source.tar.gz'), '-C', join(root, 'test/examples/hello'), '.']);
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** A person at a page: what they see and how they reach it. */
interface Person {
  page: Page;
  hands: Hands;
  name: string;
}
const button = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('button', { name, exact: typeof name === 'string' });
const link = (page: Page, name: string): Locator => page.getByRole('link', { name, exact: true });

async function offer(page: Page, act: () => Promise<void>, file: string): Promise<void> {
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), act()]);
  await chooser.setFiles(file);
}

async function enter({ page, hands }: Person): Promise<void> {
  await hands.write(page.getByLabel('User', { exact: true }), service.admin.username);
  await hands.write(page.getByLabel('Password', { exact: true }), service.admin.password);
  await hands.press(button(page, 'Sign in'));
  await page.getByRole('heading', { name: 'Last ended' }).waitFor();
}

async function useTable({ page, hands }: Person): Promise<void> {
  await hands.press(link(page, 'Projects'));
  // The page before has links to experiments of the project.
  await page.getByRole('heading', { name: 'Projects' }).waitFor();
  await hands.press(page.locator('main a').filter({ hasText: 'search' }).first());
  await page.locator('.row.body').first().waitFor();
  await hands.press(page.getByRole('columnheader', { name: /Best/ }).getByRole('button'));
  await expect.poll(() => page.url()).toContain('sort=best');
  await hands.press(button(page, 'Columns'));
  await hands.press(page.getByRole('dialog').getByLabel('seed', { exact: true }));
  await hands.press(page.getByRole('dialog').getByLabel('block', { exact: true }));
  await hands.press(button(page, 'Done'));
  await page.getByRole('columnheader', { name: /seed/ }).waitFor();
  await hands.write(page.getByLabel('Filter'), 'params.lr > 0');
  await expect.poll(() => page.locator('.table-note').innerText()).toMatch(/^12 experiments/);
  await hands.choose(page.getByLabel('Group by'), 'Group by optimizer');
  await page.locator('.grouped tbody tr').first().waitFor();
  await hands.choose(page.getByLabel('Group by'), 'No groups');
  await page.locator('.row.body').first().waitFor();
}

async function compare({ page, hands }: Person): Promise<void> {
  for (const index of [0, 1]) await hands.press(page.locator(`[data-index="${index}"] input`));
  await hands.press(link(page, 'Compare'));
  await page.locator('.compare-table').waitFor();
  await hands.press(page.getByLabel('Only differences'));
  await expect.poll(() => page.locator('.compare-table tr.equal').count()).toBeGreaterThan(0);
  await hands.press(link(page, 'Parallel coordinates'));
  await page.getByRole('group', { name: 'Axes of 2 experiments' }).waitFor();
}

async function readCurves({ page, hands }: Person): Promise<void> {
  await hands.press(link(page, 'Curves'));
  await page.locator('.plot canvas').first().waitFor();
  await hands.choose(page.getByLabel('Horizontal axis'), 'Relative time');
  await hands.slide(page.getByLabel('Smoothing'));
  await expect.poll(() => page.url()).toMatch(/smooth=0\.\d/);
  await hands.press(button(page, 'Log y'));
  await hands.point(page.locator('.plot').first());
  await page.locator('.tip').first().waitFor();
  const menu = page.locator('.chart .menu summary').first();
  await hands.press(menu);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    hands.press(button(page, 'SVG').first()),
  ]);
  expect(download.suggestedFilename()).toMatch(/\.svg$/);
}

async function start({ page, hands, name }: Person): Promise<void> {
  await hands.press(link(page, 'Projects').first());
  await hands.press(button(page, 'New project'));
  await hands.write(page.getByLabel('Name'), `by the ${name}`);
  await hands.press(button(page, 'Create project'));
  await page.getByRole('heading', { name: `by the ${name}` }).waitFor();
  await hands.press(link(page, 'Start a training').first());
  await hands.press(button(page, 'Write the configuration'));
  await hands.write(page.getByLabel('Content of train.yaml'), 'epochs: 2\nlearning_rate: 0.5\n');
  await hands.press(button(page, 'Save').first());
  await page.getByText('Saved.').waitFor();
  const drop = (index: number) =>
    (name === 'mouse' ? page.locator('label.drop') : page.locator('input[type=file]')).nth(index);
  await offer(page, () => hands.press(drop(0)), join(folder, 'source.tar.gz'));
  await page.getByText('source.tar.gz is there').waitFor();
  await hands.choose(page.getByLabel('Kind'), 'None');
  await hands.write(page.getByLabel('Command'), 'python3 train.py {config}');
  await hands.press(page.locator('.step').nth(2).getByRole('button', { name: 'Save' }));
  await page.getByText('The environment is stored').waitFor();
  await expect.poll(() => page.locator('.cost').innerText()).toContain('1 vCPU');
  await hands.press(button(page, 'Train'));
  await page.waitForURL(/experiments\/\w+.*tab=log/);
  await expect.poll(() => page.locator('.page-head .status').innerText()).toBe('Succeeded');
}

async function readExperiment({ page, hands }: Person): Promise<void> {
  await hands.write(page.getByLabel('Search the log'), 'epoch');
  await page.locator('.log mark').first().waitFor();
  await hands.press(button(page, 'Warnings'));
  await hands.press(button(page, 'All'));
  await hands.press(page.getByRole('link', { name: /^Artifacts/ }));
  await hands.press(
    page
      .locator('main')
      .getByRole('button', { name: /\.(?:json|txt|svg|csv|md|yaml)/ })
      .first(),
  );
  await page.locator('.preview, .preview-image, pre.text, .preview-table').first().waitFor();
  await hands.press(link(page, 'Configuration'));
  await page.locator('.drawing img').waitFor();
  await hands.press(link(page, 'Overview'));
  await hands.press(button(page, 'Edit').first());
  await hands.write(page.getByLabel('Note', { exact: true }), '**seen**');
  await hands.press(button(page, 'Save'));
  await page.locator('aside .markdown strong').waitFor();
  await hands.press(button(page, 'Run again'));
  await hands.write(page.getByLabel('learning_rate'), '0.25');
  const before = page.url();
  await hands.press(button(page, 'Run again with 1 changed'));
  await page.waitForURL((url) => url.href !== before && url.hash.includes('/experiments/'));
}

async function optimize({ page, hands, name }: Person): Promise<void> {
  await hands.press(link(page, 'Models').first());
  await hands.press(button(page, 'Upload a model'));
  await hands.write(page.getByLabel('Name of the model'), `digits-${name}`);
  const dialog = page.getByRole('dialog');
  const drop = (name === 'mouse' ? dialog.locator('label.drop') : dialog.locator('input[type=file]')).first();
  await offer(page, () => hands.press(drop), model);
  await page.getByText('digits.onnx is there').waitFor();
  await hands.press(button(page, 'Open the model'));
  await page.getByRole('heading', { name: 'Contents' }).waitFor();
  // Who reads first finds a page that has stopped looking: nothing of this model was running.
  await page.waitForTimeout(6_000);
  await hands.press(button(page, 'Compress'));
  await hands.press(dialog.locator('summary'));
  await hands.choose(page.getByLabel('Strategy'), 'float16, 16 bit');
  await hands.press(dialog.getByRole('button', { name: 'Compress' }));
  await page.locator('.receipt-bar').first().waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    hands.press(button(page, /^Download \d/).first()),
  ]);
  expect(download.suggestedFilename()).toMatch(/\.onnx$/);
}

async function manage({ page, hands, name }: Person): Promise<void> {
  await hands.press(link(page, 'Users').first());
  await hands.press(button(page, 'New user'));
  await hands.write(page.getByLabel('Name'), `eve-${name}`);
  await hands.write(page.getByLabel('Password'), 'another long sentence');
  await hands.press(button(page, 'Create the user'));
  await hands.choose(page.getByLabel(`Account type of eve-${name}`), 'viewer');
  await page.getByText('The account type is changed').waitFor();
  await hands.press(button(page, `Delete eve-${name}`));
  await hands.press(button(page, 'Delete the user'));
  await expect.poll(() => page.getByText(`eve-${name}`, { exact: true }).count()).toBe(0);
  await hands.press(page.locator('nav.side a[href="#/account"]'));
  await hands.write(page.getByLabel('Name of a new token'), `of the ${name}`);
  await hands.press(button(page, 'Make a token'));
  await page.locator('.secret pre').waitFor();
  await hands.press(button(page, 'Sign out').first());
  await page.getByLabel('User', { exact: true }).waitFor();
}

describe.each([
  { name: 'mouse', handsOf: mouse },
  { name: 'keyboard', handsOf: keyboard },
])('with the $name alone', ({ name, handsOf }) => {
  let person: Person;
  beforeAll(async () => {
    const page = await service.open();
    person = { page, hands: handsOf(page), name };
    await enter(person);
  });
  afterAll(() => person.page.context().close());

  test.each([
    { what: 'the table is sorted, filtered, grouped and given columns', use: useTable },
    { what: 'experiments are compared', use: compare },
    { what: 'curves are read and kept', use: readCurves },
    { what: 'a training is started from nothing', use: start },
    { what: 'an experiment is read, edited and run again', use: readExperiment },
    { what: 'a model is uploaded, quantized and downloaded', use: optimize },
    { what: 'users and tokens are managed', use: manage },
  ])('$what', async ({ use }) => {
    await use(person);
    expect(service.faults).toEqual([]);
  });
});
