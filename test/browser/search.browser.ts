import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeFindings } from './axe.ts';
import { type ConsoleService, startConsole, visit } from './console-service.ts';
import { countInputs } from './count-inputs.ts';
import { newProject, recordRun } from './record-run.ts';

let service: ConsoleService;
let page: Page;
let project_id: string;

beforeAll(async () => {
  service = await startConsole();
  project_id = await newProject(service.client, 'searched');
  for (const [name, lr, optimizer, status] of [
    ['one', '0.01', 'adam', 'SUCCEEDED'],
    ['two', '0.0001', 'adam', 'FAILED'],
    ['three', '0.0005', 'sgd', 'SUCCEEDED'],
  ] as const)
    await recordRun(service.client, project_id, {
      name,
      params: { lr, optimizer },
      metrics: { accuracy: [0.5, 0.7] },
      status,
    });
  page = await service.enter();
});
afterAll(() => service.close());

const names = () => page.locator('.row.body .name').allInnerTexts();

describe('the filter', () => {
  test.each([
    ['adam', ['one', 'two']],
    ['failed', ['two']],
    ['lr < 0.001', ['three', 'two']],
    ['lr < 0.001 sgd', ['three']],
  ])('takes %s for what it looks like', async (filter, found) => {
    await visit(page, `projects/${project_id}`);
    await page.getByLabel('Filter').fill(filter);

    await expect.poll(async () => (await names()).sort()).toEqual(found);
  });

  test('completes names, comparisons and known values by keyboard', async () => {
    await visit(page, `projects/${project_id}`);
    await page.getByLabel('Filter').fill('');
    await page.getByLabel('Filter').pressSequentially('opt');
    const list = page.getByRole('listbox', { name: 'Completions' });
    const option = (name: string) => list.getByRole('option', { name });
    await option('optimizer').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    for (const key of ['ArrowDown', 'Enter']) await page.keyboard.press(key);
    await option('optimizer =').first().waitFor();
    for (const key of ['ArrowDown', 'Enter']) await page.keyboard.press(key);
    await option('sgd').waitFor();
    for (const key of ['ArrowUp', 'Enter']) await page.keyboard.press(key);

    await expect.poll(names).toEqual(['three']);
  });

  test('has chips, which a second click takes away', async () => {
    await visit(page, `projects/${project_id}?filter=adam`);
    await page.getByRole('button', { name: 'Failed', exact: true }).click();
    await expect.poll(names).toEqual(['two']);
    await page.getByRole('button', { name: 'Failed', exact: true }).click();

    await expect.poll(async () => (await names()).length).toBe(2);
    expect(await page.getByLabel('Filter').inputValue()).toBe('adam');
    await page.getByRole('button', { name: 'Mine', exact: true }).click();
    const filter = () => page.getByLabel('Filter').inputValue();
    await expect.poll(filter).toBe("adam AND user = 'admin'");
    await expect.poll(async () => (await names()).length).toBe(2);
    await page.getByRole('button', { name: 'Mine', exact: true }).click();
    await expect.poll(filter).toBe('adam');
  });
});

describe('by keyboard', () => {
  test('the first row is two keys away, and two rows are compared in six', async () => {
    await visit(page, 'projects');
    await visit(page, `projects/${project_id}`);
    await page.locator('.row.body').first().waitFor();
    const inputs = await countInputs(page);
    for (const index of [0, 1]) {
      await page.keyboard.press('j');
      await page.locator(`[data-index="${index}"]:focus-within`).waitFor();
      await page.keyboard.press('x');
      await page.getByText(`${index + 1} chosen`).waitFor();
    }
    await page.keyboard.press('c');

    await page.getByRole('heading', { name: 'Compare 2 experiments' }).waitFor();
    // The keys that the table is given for j and k are counted as well.
    expect((await inputs()).keys).toBeLessThanOrEqual(6);
  });

  test('Ctrl-K goes to a project, a run or an action', async () => {
    await visit(page, 'account');
    await page.keyboard.press('Control+k');
    const box = page.getByRole('combobox', { name: /Search projects/ });
    await box.waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.type('searched');
    await page.getByRole('option', { name: 'searched project' }).waitFor();
    await page.keyboard.press('Enter');

    await page.getByRole('heading', { name: 'searched', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await box.waitFor();
    await page.keyboard.type('two');
    await page.getByRole('option', { name: 'two run in searched' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'two', level: 1 }).waitFor();
  });

  test('a dialog that the browser has closed by itself opens again', async () => {
    await visit(page, 'account');
    const dialog = page.getByRole('dialog');
    for (let time = 0; time < 2; time += 1) {
      await page.keyboard.press('Control+k');
      await dialog.waitFor();
      await dialog.evaluate((one) => (one as HTMLDialogElement).close());
      // It is hidden at once, and leaves the page at its event, which comes later.
      await expect.poll(() => page.locator('dialog').count()).toBe(0);
    }
  });

  test('what is typed before the palette is there goes to it, not to the page', async () => {
    const own = await service.enter();
    await visit(own, `projects/${project_id}`);
    await own.locator('.row.body').first().waitFor();
    await own.keyboard.press('Control+k');
    await own.keyboard.type('val');
    const box = own.getByRole('combobox', { name: /Search projects/ });
    await box.waitFor();
    await own.keyboard.type('ue');
    await expect.poll(() => box.inputValue()).toBe('value');
    expect(await own.locator('.chosen-bar').count()).toBe(0);
    expect(own.url()).not.toContain('panel');
    await own.context().close();
  });

  test('Ctrl-K also presses what the page has, such as the head of a column', async () => {
    await visit(page, `projects/${project_id}`);
    await page.locator('.row.body').first().waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('sort status');
    await page.getByRole('option', { name: 'Sort by Status on this page' }).waitFor();
    await page.keyboard.press('Enter');
    await expect
      .poll(() => page.getByRole('columnheader', { name: 'Status' }).getAttribute('aria-sort'))
      .not.toBeNull();
  });

  test('keys that are pressed while curves load act once they are there', async () => {
    const own = await service.enter();
    await visit(own, `projects/${project_id}`);
    await own.locator('.row.body').first().waitFor();
    for (const key of ['v', 't', 'l']) await own.keyboard.press(key);
    await expect.poll(() => own.url()).toMatch(/x=relative.*log=y/);
    await own.keyboard.press('l');
    await expect.poll(() => own.url()).not.toContain('log=y');
    await own.keyboard.press('l');
    // Letters mean nothing to a field for a number, and Escape leaves any field.
    await own.keyboard.press('s');
    await own.keyboard.press('l');
    await expect.poll(() => own.url()).not.toContain('log=y');
    await own.keyboard.press('Escape');
    await expect.poll(() => own.evaluate(() => document.activeElement?.tagName)).toBe('BODY');
    await own.context().close();
  });

  test('a name is typed into the page of signing in without a click', async () => {
    const own = await service.open();
    await own.getByLabel('User', { exact: true }).waitFor();
    await own.keyboard.type(service.admin.username);
    await own.keyboard.press('Tab');
    await own.keyboard.type(service.admin.password);
    await own.keyboard.press('Enter');
    await own.locator('.shell').waitFor();
    expect(await own.locator('.sign-in').count()).toBe(0);
    await own.context().close();
  });

  test('/ goes to the filter, e edits, and ? lists the keys', async () => {
    await visit(page, 'projects');
    await visit(page, `projects/${project_id}`);
    await page.locator('.row.body').first().waitFor();
    await page.keyboard.press('/');
    await expect
      .poll(() => page.getByLabel('Filter').evaluate((one) => one === document.activeElement))
      .toBe(true);
    await page.keyboard.type('?');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByLabel('Filter').fill('');
    await page.getByRole('link', { name: 'one', exact: true }).click();
    await page.getByRole('heading', { name: 'one', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).first().waitFor();
    await page.keyboard.press('e');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
  });
});

test('nothing of it made a script fail or broke the policy of the page', () => {
  expect(service.faults).toEqual([]);
});
