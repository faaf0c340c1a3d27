import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeFindings } from './axe.ts';
import { type ConsoleService, startConsole, visit } from './console-service.ts';
import { countedHands } from './counted-hands.ts';
import { newProject, recordRun } from './record-run.ts';

let service: ConsoleService;
let page: Page;
let project_id: string;
const count = 30;

beforeAll(async () => {
  service = await startConsole();
  page = await service.enter({ width: 1440 });
  project_id = await newProject(service.client, 'many at once');
  for (let run = 0; run < count; run += 1)
    await recordRun(service.client, project_id, {
      name: `run ${String(run).padStart(2, '0')}`,
      params: { lr: String(run % 3), note: '=1+1' },
      metrics: { accuracy: [run / count] },
      status: run === 0 ? undefined : 'SUCCEEDED',
    });
});
afterAll(() => service.close());

const box = (index: number) => page.locator(`[data-index="${index}"] input`);
const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
const shown = () => page.locator('.table-note').first().innerText();
const names = (): Promise<string[]> => page.locator('.row.body .cell.name').allInnerTexts();
const open = async () => {
  await visit(page, `projects/${project_id}`);
  await page.getByText(`${count} experiments`).first().waitFor();
};

describe('many rows at once', () => {
  test('20 are deleted with three clicks, and come back with one, in their places', async () => {
    await open();
    const before = await names();
    const hands = countedHands(page);
    await hands.click(box(0));
    await hands.click(box(19), 'Shift');
    await expect.poll(() => page.locator('.chosen-bar').innerText()).toContain('20 chosen');
    await hands.click(button('Delete'));
    await expect.poll(shown).toContain('10 experiments');
    expect(hands.clicks).toBe(3);
    await hands.click(button('Undo'));
    await expect.poll(shown).toContain(`${count} experiments`);
    expect(hands.clicks).toBe(4);
    await expect.poll(names).toEqual(before);
    expect(await axeFindings(page)).toEqual([]);
  });

  test('20 are tagged with three clicks and the texts', async () => {
    await open();
    const hands = countedHands(page);
    await hands.click(box(0));
    await hands.click(box(19), 'Shift');
    await hands.click(button('Tag'));
    await page.getByLabel('Name', { exact: true }).fill('stage');
    await page.getByLabel('Value (optional)').fill('final');
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('20 experiments tagged.').waitFor();
    expect(hands.clicks).toBe(3);
    await page.getByLabel('Filter').fill("tags.stage = 'final'");
    await expect.poll(shown).toContain(`20 of ${count} experiments`);
  });

  test('lose a tag together, and get it back with Undo', async () => {
    await visit(page, `projects/${project_id}?filter=tags.stage%20%3D%20'final'`);
    await page.locator('.row.body').first().waitFor();
    await page.getByLabel('Select all shown experiments').check();
    await button('Tag').click();
    await page.getByLabel('Or remove a tag').selectOption('stage');
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('The tag stage is removed from 20 experiments.').waitFor();
    await expect.poll(shown).toContain(`0 of ${count} experiments`);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(shown).toContain(`20 of ${count} experiments`);
  });

  test('are all that match, as CSV without formulas', async () => {
    await visit(page, `projects/${project_id}?filter=params.lr%20%3D%201&columns=params.note,best`);
    await page.locator('.row.body').first().waitFor();
    await box(0).click();
    await button('Choose all 10').click();
    await expect.poll(() => page.locator('.chosen-bar').innerText()).toContain('10 chosen');
    const [download] = await Promise.all([page.waitForEvent('download'), button('CSV').click()]);
    const lines = (await readFile(await download.path(), 'utf8')).split('\r\n');
    // Also the last line ends.
    expect(lines.pop()).toBe('');
    expect(lines).toHaveLength(11);
    expect(lines[0]).toBe('experiment_id,name,params.note,best accuracy');
    expect(lines[1]).toMatch(/^\w{26},run 28,'=1\+1,0\.93/);
  });

  test('are renamed with numbers, and those that run are cancelled', async () => {
    await visit(page, `projects/${project_id}?filter=name%20%3D%20'run%2000'`);
    await box(0).click();
    await button('Cancel 1').click();
    await page.getByRole('dialog').getByText('Cancel 1 experiment?').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel 1' }).click();
    await page.getByText('1 experiment cancelled.').waitFor();
    await expect.poll(() => page.locator('.row.body').first().innerText()).toContain('Cancelled');
    await visit(page, `projects/${project_id}?sort=created`);
    await page.getByRole('button', { name: 'Clear the choice' }).click();
    await box(1).click();
    await box(2).click({ modifiers: ['Shift'] });
    await button('Rename').click();
    await page.getByLabel('Name', { exact: true }).fill('renamed');
    await page.keyboard.press('Enter');
    await page.getByText('2 experiments renamed.').waitFor();
    await expect
      .poll(async () => (await names()).slice(0, 4))
      .toEqual(['run 00', 'renamed 1', 'renamed 2', 'run 03']);
  });

  test('the first row opens with two keys', async () => {
    await open();
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    const hands = countedHands(page);
    await hands.press('j', 'Enter');
    await page.waitForURL(/experiments\/\w{26}/);
    // The address changes before the page does. A test that goes back at once would find the choice of this one.
    await page.getByRole('link', { name: 'Overview' }).waitFor();
    expect(hands.keys).toBe(2);
  });
});

describe('what was deleted', () => {
  test('is listed with its days, and restored', async () => {
    await open();
    await box(3).click();
    await button('Delete').click();
    await page.getByText('1 experiment deleted, restorable for 30 days.').waitFor();
    await button('Deleted').click();
    const row = page.locator('.grouped tbody tr');
    await expect.poll(() => row.count()).toBe(1);
    expect(await row.innerText()).toMatch(/30 days/);
    expect(await axeFindings(page)).toEqual([]);
    await button('Restore').click();
    await page.getByText('Nothing is deleted').waitFor();
  });

  test('is a project too: deleted in its settings, and back with Undo or from the list', async () => {
    const other = await newProject(service.client, 'short-lived');
    const removal = async () => {
      await visit(page, `projects/${other}/settings`);
      await button('Delete the project').click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByText('short-lived is deleted, restorable for 30 days.').waitFor();
    };
    await removal();
    await page.locator('.notice', { hasText: 'short-lived' }).getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('heading', { name: 'short-lived' }).waitFor();
    await removal();
    await visit(page, 'projects');
    await page.getByText('1 deleted project').click();
    await button('Restore').click();
    await page.locator('main a', { hasText: 'short-lived' }).waitFor();
    await expect.poll(() => page.locator('.deleted-projects').count()).toBe(0);
  });
});

test('no script failed, and none broke the policy of the page', () => {
  expect(service.faults).toEqual([]);
});
