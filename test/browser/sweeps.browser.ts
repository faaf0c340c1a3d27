import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { endpoint as listTrials } from '../../functions/projects/sweeps/list-trials.endpoint.ts';
import type { endpoint as readSweep } from '../../functions/projects/sweeps/read-sweep.endpoint.ts';
import type { endpoint as createUser } from '../../functions/users/create-user.endpoint.ts';
import { axeFindings } from './axe.ts';
import { type ConsoleService, settle, signIn, startConsole, visit } from './console-service.ts';
import { countedHands } from './counted-hands.ts';
import { recordSweep } from './record-sweep.ts';

const shots = join(import.meta.dirname, '../../.build/screenshots');

let service: ConsoleService;
let page: Page;
let swept: { project_id: string; sweep_id: string };

beforeAll(async () => {
  service = await startConsole(undefined, { LOCAL_PRICE: '0.05' });
  swept = await recordSweep(service.url, service.client, {
    name: 'swept',
    args: [
      ...['-S', 'lr=1e-4..1e-1:log', '-S', 'depth=2,4', '-S', 'optimizer=sgd,adam'],
      ...['--trials', '12', '--repeats', '2', '--parallel', '4', '--budget', '5'],
      ...['--metric', 'val_loss', '--goal', 'minimize', '--name', 'rate and depth'],
    ],
  });
  page = await service.enter();
});
afterAll(() => service.close());

const present = () =>
  service.client.call<typeof readSweep>('GET /projects/{project_id}/sweeps/{sweep_id}', { path: swept });
const sweepPlace = () => `projects/${swept.project_id}/sweeps/${swept.sweep_id}`;

test('a project lists its sweeps with what came of them, and opens one by two clicks', async () => {
  const hands = countedHands(page);
  const { best } = await present();
  await visit(page, `projects/${swept.project_id}`);
  await hands.click(page.getByRole('link', { name: 'Sweeps' }));
  const row = page.getByRole('row', { name: /rate and depth/ });
  await row.getByText('24 of 24').waitFor();
  await row.getByText('Completed').waitFor();
  expect(await row.textContent()).toContain(String(Number(best?.value.toPrecision(5))));
  expect(await axeFindings(page)).toEqual([]);
  await hands.click(row.getByRole('link'));

  await page.getByRole('heading', { name: 'rate and depth' }).waitFor();
  expect(hands.clicks).toBe(2);
});

test('Ctrl-K goes to a sweep of the open project', async () => {
  await visit(page, 'projects');
  await visit(page, `projects/${swept.project_id}`);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /Search projects/ }).waitFor();
  await page.keyboard.type('rate and');
  await page.getByRole('option', { name: 'rate and depth sweep' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'rate and depth', level: 1 }).waitFor();

  expect(service.faults).toEqual([]);
});

describe('the page of a sweep', () => {
  test('shows the best trial first, its repeats as mean ± deviation', async () => {
    const { best } = await present();
    await visit(page, sweepPlace());
    const table = page.getByRole('table', { name: 'Trials' });
    await table.getByRole('row').nth(1).waitFor();
    const first = await table.getByRole('row').nth(1).textContent();

    expect(first).toContain(`#${best?.trial}`);
    expect(first).toContain('± 0.00071');
    expect(await table.getByRole('row').count()).toBe(13);
    expect(await page.getByText('of $5.00').first().isVisible()).toBe(true);
    expect(await axeFindings(page)).toEqual([]);
    expect(service.faults).toEqual([]);
  });

  test('opens the repeats of a trial as experiments by one click', async () => {
    const { best } = await present();
    const hands = countedHands(page);
    await visit(page, sweepPlace());
    await hands.click(page.getByRole('link', { name: `#${best?.trial}`, exact: true }));
    await page.getByText('2 of 24 experiments').waitFor();

    expect(hands.clicks).toBe(1);
  });

  test('is one click away from each of its experiments, which says trial and repeat', async () => {
    const hands = countedHands(page);
    const rows = await service.client.call<typeof listTrials>(
      'GET /projects/{project_id}/sweeps/{sweep_id}/trials',
      { path: swept, query: { limit: 100 } },
    );
    const second = rows.find(({ repeat }) => repeat === 2);
    await visit(page, `projects/${swept.project_id}/experiments/${second?.experiment_id}`);
    await page.getByText(`trial #${second?.trial}, repeat 2`).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await hands.click(page.getByRole('link', { name: 'rate and depth' }));

    await page.getByRole('heading', { name: 'rate and depth' }).waitFor();
    expect(hands.clicks).toBe(1);
  });

  test.each([
    { width: 1440, scheme: 'light' },
    { width: 1440, scheme: 'dark' },
    { width: 390, scheme: 'light' },
    { width: 390, scheme: 'dark' },
  ] as const)('is named in its experiments in a window of $width pixels, $scheme', async (look) => {
    const own = await service.enter(look);
    const [row] = await service.client.call<typeof listTrials>(
      'GET /projects/{project_id}/sweeps/{sweep_id}/trials',
      { path: swept, query: { limit: 1 } },
    );
    await visit(own, `projects/${swept.project_id}/experiments/${row?.experiment_id}`);
    await own.getByRole('link', { name: 'rate and depth' }).waitFor();
    const shot = join(shots, `swept-experiment-${look.width}-${look.scheme}.png`);
    await own.screenshot({ path: shot, fullPage: true });
    const widest = await own.evaluate(() => document.documentElement.scrollWidth);
    await own.context().close();

    expect(widest).toBeLessThanOrEqual(look.width);
  });

  test('says that twelve trials are too few to tell what decides, and their rank correlations', async () => {
    await visit(page, sweepPlace());
    const panel = page.getByRole('region', { name: 'Importance of the parameters' });
    await panel.getByText('Too few trials to say: 12 trials have a value, 20 are needed.').waitFor();

    expect(await panel.getByRole('row').count()).toBe(4);
    expect(await panel.getByRole('columnheader').allTextContents()).toEqual([
      'Parameter',
      'Rank correlation',
    ]);
  });

  test('sorts by a parameter, and compares chosen trials by three clicks', async () => {
    const hands = countedHands(page);
    await visit(page, sweepPlace());
    await hands.click(page.getByRole('checkbox', { name: /Choose/ }).nth(0));
    await hands.click(page.getByRole('checkbox', { name: /Choose/ }).nth(1));
    await hands.click(page.getByRole('link', { name: 'Compare' }));
    await page.getByRole('heading', { name: 'Compare 4 experiments' }).waitFor();

    expect(hands.clicks).toBe(3);
  });

  test('tells the points of the best so far to the keyboard', async () => {
    await visit(page, sweepPlace());
    const chart = page.getByRole('img', { name: /val_loss of 12 trials/ });
    await chart.focus();
    await page.keyboard.press('ArrowRight');
    await chart.getByText('#0', { exact: true }).waitFor();
    await page.keyboard.press('End');
    await chart.getByText('#11', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await chart.getByText('#11', { exact: true }).waitFor({ state: 'detached' });
    await settle(page);
    expect(await page.locator('.tip').count()).toBe(0);
  });

  test('chooses trials along an axis by one drag, which a link keeps, and by keys', async () => {
    await visit(page, sweepPlace());
    const axis = page.getByRole('slider', { name: 'Part of lr' });
    await axis.scrollIntoViewIfNeeded();
    const box = await axis.boundingBox();
    if (box === null) throw new Error('The axis is not on the page.');
    const x = box.x + box.width / 2;
    await page.mouse.move(x, box.y + box.height * 0.3);
    await page.mouse.down();
    await page.mouse.move(x, box.y + box.height * 0.7, { steps: 3 });
    await page.mouse.up();
    const note = page.getByText(/^\d+ of 12 trials chosen/);
    await note.waitFor();
    await settle(page);
    const chosen = Number((await note.textContent())?.split(' ')[0]);
    const rows = page.getByRole('table', { name: 'Trials' }).getByRole('row');
    expect(chosen).toBeGreaterThan(0);
    expect(chosen).toBeLessThan(12);
    expect(await rows.count()).toBe(chosen + 1);
    await page.reload();
    await page.getByText(`${chosen} of 12 trials chosen`).waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(() => rows.count()).toBe(13);

    await axis.focus();
    await page.keyboard.press('ArrowUp');
    await note.waitFor();
    await page.keyboard.press('Escape');
    await note.waitFor({ state: 'detached' });
    expect(await axeFindings(page)).toEqual([]);
  });

  test('draws each parameter against the metric', async () => {
    await visit(page, sweepPlace());
    for (const name of ['lr', 'depth', 'optimizer'])
      await page.getByRole('img', { name: `val_loss by ${name}.` }).waitFor();
    await page.getByRole('img', { name: 'val_loss by lr.' }).focus();
    await page.keyboard.press('ArrowRight');

    expect(await page.locator('.tip').textContent()).toContain('val_loss');
    expect(service.faults).toEqual([]);
  });

  test.each([1280, 390])('fits %s pixels', async (width) => {
    const own = await service.enter({ width, scheme: 'dark' });
    await visit(own, sweepPlace());
    await own.getByRole('table', { name: 'Trials' }).waitFor();
    const widest = await own.evaluate(() => document.documentElement.scrollWidth);
    expect(widest).toBeLessThanOrEqual(width);
    expect(await axeFindings(own)).toEqual([]);
    await own.context().close();
  });
});

test('a guest is told who lets them see a sweep, and sees nothing of it', async () => {
  const password = 'a long sentence for gus';
  await service.client.call<typeof createUser>('POST /users/', {
    fields: { username: 'gus', account_type: 'guest' },
    body: { password },
  });
  const own = await service.open();
  await signIn(own, { username: 'gus', password });
  await visit(own, sweepPlace());
  await own.getByRole('heading', { name: 'You are signed in as a guest' }).waitFor();
  const text = await own.locator('main').innerText();

  expect(text).not.toContain('rate and depth');
  expect(await own.getByRole('alert').count()).toBe(0);
  await own.context().close();
});

describe('a viewer', () => {
  test('sees all of a sweep, and no button to change it', async () => {
    const password = 'a long sentence for vera';
    await service.client.call<typeof createUser>('POST /users/', {
      fields: { username: 'vera', account_type: 'viewer' },
      body: { password },
    });
    const own = await service.open();
    await signIn(own, { username: 'vera', password });
    await visit(own, sweepPlace());
    await own.getByRole('table', { name: 'Trials' }).waitFor();
    const buttons = await own.locator('.page-head button').count();

    expect(buttons).toBe(0);
    expect(await own.getByRole('alert').count()).toBe(0);
    await own.context().close();
  });
});

describe('somebody who may change the project', () => {
  test('extends a sweep that has ended, pauses it, resumes it, sees what decides, and cancels it', async () => {
    await visit(page, sweepPlace());
    await page.getByRole('button', { name: 'Extend' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Trials', { exact: true }).fill('none');
    await dialog.getByLabel('Max lr').fill('0.01');
    await dialog.getByRole('button', { name: 'Extend' }).click();
    await expect.poll(() => dialog.locator('[aria-invalid="true"]').count()).toBeGreaterThan(0);
    expect(await dialog.getByLabel('Trials', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    await dialog.getByLabel('Trials', { exact: true }).fill('200');
    await dialog.getByRole('button', { name: 'Extend' }).click();
    await expect.poll(() => dialog.getByLabel('Max lr').getAttribute('aria-invalid')).toBe('true');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('Max lr').fill('1');
    await page.getByRole('dialog').getByRole('button', { name: 'Extend' }).click();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused by admin.').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    const panel = page.getByRole('region', { name: 'Importance of the parameters' });
    await panel.getByRole('columnheader', { name: 'Importance' }).waitFor();
    const decisive = await panel.getByRole('rowheader').first().textContent();
    expect(await axeFindings(page)).toEqual([]);
    await page.screenshot({ path: join(shots, 'sweep-importance.png'), fullPage: true });
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Cancel the sweep' }).click();
    await page.locator('.page-head').getByText('Cancelled by admin.').waitFor();
    const { status, trials, parameters } = await present();

    expect(decisive).toBe('lr');
    expect({ status, trials, lr: parameters['lr'] }).toEqual({
      status: 'CANCELLED',
      trials: 200,
      lr: { min: 0.0001, max: 1, scale: 'log' },
    });
    expect(await page.getByRole('button', { name: 'Extend' }).count()).toBe(0);
  });

  test('deletes a sweep, whose experiments stay', async () => {
    await visit(page, sweepPlace());
    await page.getByRole('button', { name: 'Delete the sweep' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the sweep' }).click();
    await page.getByText('No sweeps yet').waitFor();
    await visit(page, `projects/${swept.project_id}`);

    await page.getByRole('table', { name: 'Experiments' }).waitFor();
    expect(service.faults).toEqual([]);
  });
});
