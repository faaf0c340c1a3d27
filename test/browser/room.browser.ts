import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeFindings } from './axe.ts';
import { styledDuring } from './bench/tasks.ts';
import { type ConsoleService, settle, startConsole, visit } from './console-service.ts';
import { pretendHeavy } from './heavy-table.ts';
import { newProject, recordRun } from './record-run.ts';

// Bounds of what a screen shows of a project: charts, rows, and the lines above them.
let service: ConsoleService;
let page: Page;
let project_id: string;

beforeAll(async () => {
  service = await startConsole();
  page = await service.enter({ width: 1440 });
  project_id = await newProject(service.client, 'a project with a name of some length, as people give them');
  const steps = Array.from({ length: 30 }, (_, step) => step);
  for (let run = 0; run < 12; run += 1)
    await recordRun(service.client, project_id, {
      name: `efficientnet_b0-sgd-lr0.00229-s${run}`,
      params: { lr: String(0.01 * (run + 1)), optimizer: run % 2 === 0 ? 'sgd' : 'lion' },
      metrics: {
        ...Object.fromEntries(
          ['val/acc', 'val/loss', 'train/acc', 'train/loss', 'lr', 'epoch', 'grad_norm', 'f1'].map((name) => [
            name,
            steps.map((step) => (run + 1) / (step + 1)),
          ]),
        ),
        test_acc: [run / 12],
      },
      status: run === 0 ? undefined : 'SUCCEEDED',
    });
});
afterAll(() => service.close());

const open = async (width: number, height: number, query = ''): Promise<void> => {
  await page.setViewportSize({ width, height });
  await visit(page, `projects/${project_id}${query}`);
  await page.locator('.row.body').first().waitFor();
  if (query !== '') await page.locator('.plot canvas').first().waitFor();
  await settle(page);
};

/** Number of elements that are whole on the screen: nothing cuts or covers them at their edges. */
const wholeOnes = (selector: string): Promise<number> =>
  page.evaluate((wanted) => {
    const isSeen = (element: Element, x: number, y: number): boolean => {
      const top = document.elementFromPoint(x, y);
      return top !== null && (element.contains(top) || top.contains(element));
    };
    return [...document.querySelectorAll(wanted)].filter((element) => {
      const { left, right, top, bottom } = element.getBoundingClientRect();
      const middle = (left + Math.min(right, innerWidth)) / 2;
      return (
        top >= 0 &&
        bottom <= innerHeight &&
        isSeen(element, middle, top + 2) &&
        isSeen(element, middle, bottom - 2)
      );
    }).length;
  }, selector);
const topOf = async (selector: string): Promise<number> =>
  (await page.locator(selector).first().boundingBox())?.y ?? Number.POSITIVE_INFINITY;

describe('a project', () => {
  test.each([
    [1440, 900, 6],
    [1280, 800, 3],
  ])(
    'of %i by %i pixels shows its first row within 150 of the top, and %i charts beside it',
    async (width, height, charts) => {
      await open(width, height, '?panel=curves');
      await expect.poll(() => wholeOnes('.chart')).toBeGreaterThanOrEqual(charts);
      expect(await topOf('.row.body')).toBeLessThanOrEqual(150);
      expect(await page.locator('.run-list').count()).toBe(0);
      expect(await page.locator('.chart-controls').evaluate((line) => line.clientHeight)).toBeLessThanOrEqual(
        34,
      );
      const [filter, chip] = await Promise.all([topOf('.filter input'), topOf('.filter-chips button')]);
      expect(Math.abs(chip - filter)).toBeLessThan(12);
      expect(await axeFindings(page)).toEqual([]);
    },
  );

  test('at twice the size of a small window shows four rows', async () => {
    await open(720, 450);
    await expect.poll(() => wholeOnes('.row.body .cell.name')).toBeGreaterThanOrEqual(4);
  });

  test('on a phone shows its first row within 200 pixels, its tools on demand, and the search in its bar', async () => {
    const phone = await service.enter({ width: 390 });
    await visit(phone, `projects/${project_id}`);
    await phone.locator('.row.body').first().waitFor();
    await settle(phone);
    expect((await phone.locator('.row.body').first().boundingBox())?.y).toBeLessThanOrEqual(200);
    const curves = phone.getByRole('button', { name: 'Curves' });
    expect(await curves.isVisible()).toBe(false);
    await phone.getByRole('button', { name: 'Order, groups and panels' }).click();
    await curves.click();
    await phone.locator('.plot canvas').first().waitFor();
    expect(await axeFindings(phone)).toEqual([]);
    await phone.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Search' }).click();
    await phone.getByRole('combobox', { name: /Search projects/ }).waitFor();
    await phone.context().close();
  });
});

describe('the table beside the curves', () => {
  test('is their legend: a click at the line of a row hides it, with Alt it stands alone', async () => {
    await open(1440, 900, '?panel=curves');
    const label = () => page.locator('.plot').first().getAttribute('aria-label');
    const mark = (run: number) =>
      page.getByRole('button', { name: `Draw efficientnet_b0-sgd-lr0.00229-s${run}` });
    // The first five, and the one that runs.
    expect(await page.locator('.drawn-mark').count()).toBe(6);
    await expect.poll(label).toMatch(/s11 ends.*s10 ends/);
    await mark(11).click();
    await expect.poll(label).not.toMatch(/s11 ends/);
    expect(await mark(11).getAttribute('aria-pressed')).toBe('false');
    await mark(8).click({ modifiers: ['Alt'] });
    await expect.poll(label).not.toMatch(/s9 ends|s10 ends/);
    await expect.poll(label).toMatch(/s8 ends/);
    expect(page.url()).toContain('panel=curves');
  });
});

test('what is typed for a dialog while its part loads is written into its field', async () => {
  const own = await service.enter({ width: 1440 });
  const loaded = Promise.withResolvers<void>();
  await visit(own, `projects/${project_id}`);
  await own.locator('.row.body').first().waitFor();
  await own.route(/part-.*\.js$/, async (route) => {
    await loaded.promise;
    await route.continue();
  });

  await own.getByRole('button', { name: 'Columns' }).click();
  await own.keyboard.type('lr of it');
  loaded.resolve();

  const field = own.getByLabel('Find columns');
  await expect.poll(() => field.inputValue()).toBe('lr of it');
  await own.context().close();
});

test('rows that leave a table do not make the browser style those anew that stay', async () => {
  await open(1440, 900);
  const filter = page.getByLabel('Filter', { exact: true });
  const rows = page.locator('.row.body');
  await filter.pressSequentially('-s');
  await expect.poll(() => rows.count()).toBe(12);
  const elements = await page.locator('.table *').count();

  const styled = await styledDuring(page, async () => {
    await filter.press('1');
    await expect.poll(() => rows.count()).toBe(3);
    await settle(page);
  });

  expect(elements).toBeGreaterThan(400);
  expect(styled).toBeLessThan(elements / 2);
});

test('a table of 200 columns draws those that are seen, and the others where somebody scrolls', async () => {
  const wide = await newProject(service.client, 'wide');
  const params = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`p${at}`, String(at)]));
  for (let run = 0; run < 40; run += 1)
    await recordRun(service.client, wide, { name: `run ${run}`, params, status: 'SUCCEEDED' });
  const columns = Array.from({ length: 200 }, (_, at) => `params.p${at}`).join(',');
  await page.setViewportSize({ width: 1440, height: 900 });
  await visit(page, `projects/${wide}?columns=${columns}`);
  await page.locator('.row.body').first().waitFor();
  await settle(page);
  expect(await page.locator('.table [role=cell], .table [role=columnheader]').count()).toBeLessThanOrEqual(
    1_500,
  );
  await page.locator('.table').evaluate((table) => table.scrollTo(table.scrollWidth, 0));
  const last = page.locator('[data-index="0"] [aria-colindex="202"]');
  await expect.poll(() => last.innerText()).toBe('199');
  const head = page.getByRole('columnheader', { name: /p199$/ });
  await settle(page);
  const [value, label] = await Promise.all([last.boundingBox(), head.boundingBox()]);
  expect(Math.abs((value?.x ?? 0) - (label?.x ?? 99))).toBeLessThan(1);
});

test('a table of 10,000 runs and 200 columns fetches those that are seen, sorted or filtered by', async () => {
  const heavy = await newProject(service.client, 'heavy');
  const own = await service.enter({ width: 1440 });
  const fetched = await pretendHeavy(own, heavy, 10_000);
  const columns = Array.from({ length: 100 }, (_, at) => `params.p${at},metrics.m${at}:last`).join(',');
  await visit(own, `projects/${heavy}?columns=${columns}`);
  const note = own.locator('#filter-hint');
  const cell = (column: number) => own.locator(`[data-index="0"] [aria-colindex="${column}"]`);
  await cell(3).waitFor();
  await expect.poll(() => note.innerText()).toMatch(/^10,000 experiments/);
  expect(await own.locator('.table [role=cell], .table [role=columnheader]').count()).toBeLessThan(1_500);
  expect(fetched.bytes).toBeLessThan(10_000_000);

  const first = fetched.bytes;
  // Columns become as wide as their values once these are loaded.
  const last = async () => {
    await own.locator('.table').evaluate((table) => table.scrollTo(table.scrollWidth, 0));
    return (await cell(202).innerText()).replace('−', '-');
  };
  await expect.poll(last).toMatch(/^-?[\d.]+$/);
  await own.getByRole('columnheader', { name: /m99$/ }).getByRole('button').click();
  await expect.poll(async () => Math.abs(Number(await last()))).toBeCloseTo(1, 3);
  await own.locator('.table').evaluate((table) => table.scrollTo(0, 0));
  await own.getByLabel('Filter', { exact: true }).fill('p50 < 0.1 and team = vision');
  await expect.poll(() => note.innerText()).toMatch(/^4 of 10,000 experiments/);
  expect(fetched.bytes - first).toBeLessThan(10_000_000);
  await own.getByLabel('Filter', { exact: true }).fill('speech');
  await expect.poll(() => note.innerText()).toMatch(/^5,000 of 10,000 experiments/);
  await own.context().close();
});

test('no script failed, and none broke the policy of the page', () => {
  expect(service.faults).toEqual([]);
});
