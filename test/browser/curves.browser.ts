import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { endpoint as updateProject } from '../../functions/projects/projects/update-project.endpoint.ts';
import { axeFindings } from './axe.ts';
import { type ConsoleService, settle, startConsole, visit } from './console-service.ts';
import { countedHands } from './counted-hands.ts';
import { newProject, recordRun } from './record-run.ts';

let service: ConsoleService;
let page: Page;
let project_id: string;
/** Runs by their losses, the lowest first. */
const ids: string[] = [];

beforeAll(async () => {
  service = await startConsole();
  page = await service.enter({ width: 1440 });
  project_id = await newProject(service.client, 'compared', 'protein-folding');
  await service.client.call<typeof updateProject>('PATCH /projects/{project_id}', {
    path: { project_id },
    body: { criterion: 'loss', criterion_goal: 'minimize' },
    headers: { 'If-Match': '*' },
  });
  const steps = Array.from({ length: 40 }, (_, step) => step);
  for (let run = 0; run < 7; run += 1)
    ids.push(
      await recordRun(service.client, project_id, {
        name: `run ${run}`,
        metrics: {
          'val/loss': steps.map((step) => 0.1 * (run + 1) + 2 / (step + 1)),
          'train/loss': steps.map((step) => 0.05 * (run + 1) + 2 / (step + 1)),
          epoch: steps.map((step) => Math.floor(step / 4)),
          spiked: steps.map((step) => (step === 20 ? 1_000 : 1 + step / 100)),
          test_accuracy: [0.9 - run / 100],
        },
        status: 'SUCCEEDED',
      }),
    );
});
afterAll(() => service.close());

const compared = (query = '', count = 3) =>
  visit(page, `projects/${project_id}/compare?experiments=${ids.slice(0, count).join()}&tab=curves${query}`);
const drawn = async () => {
  await page.locator('.plot canvas').first().waitFor();
  await settle(page);
};
const plots = (): Promise<string[]> =>
  page.locator('.plot').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? ''));
const run = (index: number) => page.locator('.legend button', { hasText: `run ${index}` });
const colours = async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    await page
      .locator('.legend button')
      .evaluateAll((all) =>
        all.map((one) => [
          one.querySelector('bdi')?.textContent ?? '',
          one.querySelector('line')?.getAttribute('stroke') ?? '',
        ]),
      ),
  );
const query = (name: string): string | null => new URLSearchParams(page.url().split('?').at(-1)).get(name);

describe('the list of runs', () => {
  test('hides a run at a click, and shows it alone with Alt, in every chart and in the address', async () => {
    await compared();
    await drawn();
    expect((await plots())[0]).toMatch(/run 0.*run 1.*run 2/);
    await run(1).click();
    await expect.poll(plots).toSatisfy((all: string[]) => all.every((label) => !label.includes('run 1')));
    await page.reload();
    await drawn();
    expect((await plots())[0]).toMatch(/run 0[^;]*; run 2/);
    await run(2).click({ modifiers: ['Alt'] });
    await expect.poll(async () => (await plots())[0]).not.toContain('run 0');
    await page.getByRole('button', { name: 'Show all' }).click();
    await expect.poll(async () => (await plots())[0]).toMatch(/run 0.*run 1.*run 2/);
  });

  test('has the last value of the first metric, and a colour that the run keeps in any other choice', async () => {
    await compared();
    await drawn();
    expect(await run(0).innerText()).toMatch(/run 0\s*0\.15$/);
    const before = await colours();
    expect(new Set(Object.values(before)).size).toBe(3);
    await visit(page, `projects/${project_id}/compare?experiments=${ids[5]},${ids[2]},${ids[0]}&tab=curves`);
    await page.reload();
    await drawn();
    const after = await colours();
    for (const name of ['run 0', 'run 2']) expect(after[name], name).toBe(before[name]);
    expect(after['run 5']).not.toBe(before['run 0']);
  });

  test('highlights a run in every chart, and the line below the pointer in the list', async () => {
    await compared();
    await drawn();
    const faded = () =>
      page
        .locator('.plot canvas')
        .first()
        .evaluate((element) => {
          const canvas = element as HTMLCanvasElement;
          const { data = [] } =
            canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height - 60) ?? {};
          let ink = 0;
          for (let at = 3; at < data.length; at += 4) ink += data[at] ?? 0;
          return ink;
        });
    const before = await faded();
    await run(1).hover();
    await expect.poll(faded).toBeLessThan(before * 0.9);
    const box = await page.locator('.u-over').first().boundingBox();
    if (box === null) throw new Error('There is no plot.');
    for (let y = 2; y < box.height; y += 4) {
      await page.mouse.move(box.x + box.width / 2, box.y + y);
      if ((await page.locator('.legend .marked').count()) > 0) break;
    }
    await expect.poll(() => page.locator('.legend .marked').count()).toBe(1);
  });
});

describe('crosshair and zoom', () => {
  test('are shared by all charts, and the address shows them again', async () => {
    await compared();
    await drawn();
    const box = await page.locator('.u-over').first().boundingBox();
    if (box === null) throw new Error('There is no plot.');
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(x, y);
    const lines = () =>
      page
        .locator('.u-cursor-x')
        .evaluateAll((all) =>
          all.map((one) =>
            Math.round(Number(/translate\((-?[\d.]+)px/.exec((one as HTMLElement).style.transform)?.[1])),
          ),
        );
    // Where no pointer is, they are left of the charts.
    await expect.poll(lines).toSatisfy(([one = -1, other = -1]: number[]) => one > 0 && one === other);
    await page.mouse.click(x, y);
    await expect.poll(() => Number(query('at'))).toBeGreaterThan(15);
    await page.reload();
    await drawn();
    await expect.poll(() => page.locator('.tip').count()).toBeGreaterThan(1);
    expect(await page.locator('.tip').first().innerText()).toMatch(/step \d+[\s\S]*run 0/);
    await page.getByRole('button', { name: 'Crosshair' }).click();
    await expect.poll(() => page.locator('.tip').count()).toBe(0);
    await page.mouse.move(box.x + 40, y);
    await page.mouse.down();
    await page.mouse.move(box.x + 160, y, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => query('zoom')).toMatch(/^[\d.]+\.\.[\d.]+$/);
    const zoom = query('zoom');
    await page.reload();
    await drawn();
    expect(query('zoom')).toBe(zoom);
    await page.getByRole('button', { name: 'Zoom' }).click();
    await expect.poll(() => query('zoom')).toBeNull();
  });
});

describe('charts', () => {
  test('stand in sections by prefix, the criterion first, and single values are figures', async () => {
    await compared();
    await drawn();
    const sections = await page.locator('.chart-section h2').allInnerTexts();
    expect(sections).toEqual(['val', 'train', 'Metrics']);
    expect(await page.locator('.single-name').allInnerTexts()).toEqual(['test_accuracy']);
    expect(await page.locator('.single li').first().innerText()).toMatch(/run 0\s*0\.9/);
    await visit(page, `projects/${project_id}/experiments/${ids[0]}`);
    await drawn();
    expect(await page.locator('.single .figure').innerText()).toBe('0.9');
    expect((await plots()).some((label) => label.startsWith('test_accuracy'))).toBe(false);
  });

  test('are by any metric: x is the epoch after two clicks', async () => {
    await compared();
    await drawn();
    const hands = countedHands(page);
    await hands.choose(page.getByLabel('Horizontal axis'), 'epoch');
    await expect.poll(async () => (await plots())[0]).toMatch(/^val\/loss by epoch: run 0 ends at 0\.15/);
    expect(hands.clicks).toBe(2);
    expect(query('x')).toBe('metrics.epoch');
  });

  test('leave out outliers, have a vertical range, are pinned and enlarged, and the address holds it', async () => {
    await compared();
    await drawn();
    const chart = page.locator('.chart', { hasText: 'spiked' });
    await chart.hover();
    await chart.getByRole('button', { name: 'Pin spiked' }).click();
    await expect.poll(() => page.locator('.chart-section h2').first().innerText()).toBe('Pinned');
    await page.evaluate(() => window.scrollTo(0, 0));
    await settle(page);
    const picture = () =>
      page
        .locator('.chart', { hasText: 'spiked' })
        .locator('.plot canvas')
        .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
    const before = await picture();
    await page.getByLabel('More chart settings').click();
    await page.getByLabel('No outliers').check();
    await page.keyboard.press('Escape');
    await expect.poll(picture).not.toBe(before);
    await page.locator('.chart', { hasText: 'spiked' }).hover();
    await page.getByLabel('More for the chart of spiked').click();
    await page.getByRole('button', { name: 'Y range…' }).click();
    await page.getByLabel('From', { exact: true }).fill('0.5');
    await page.getByLabel('To', { exact: true }).fill('0.2');
    expect(await page.getByText('Two numbers, the greater one here.').count()).toBe(1);
    await page.getByLabel('To', { exact: true }).fill('2');
    await page.getByRole('button', { name: 'Set the range' }).click();
    await expect.poll(() => query('y.spiked')).toBe('0.5..2');
    await settle(page);
    await page.locator('.chart', { hasText: 'spiked' }).locator('.plot').focus();
    await page.keyboard.press('f');
    await page.locator('dialog .plot canvas').waitFor();
    await page.reload();
    await page.locator('dialog .plot canvas').waitFor();
    await settle(page);
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await expect.poll(() => query('chart')).toBeNull();
    expect([query('pin'), query('outliers'), query('y.spiked')]).toEqual(['spiked', 'out', '0.5..2']);
  });
});

/** Drag over a part of the first chart, in shares of its size. */
const drag = async (from: readonly [number, number], to: readonly [number, number]): Promise<void> => {
  const box = await page.locator('.u-over').first().boundingBox();
  if (box === null) throw new Error('There is no plot.');
  await page.mouse.move(box.x + box.width * from[0], box.y + box.height * from[1]);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to[0], box.y + box.height * to[1], { steps: 6 });
  await page.mouse.up();
};
const rangeIn = (name: string): number[] => (query(name) ?? '').split('..').map(Number);

describe('a chart', () => {
  test('is zoomed in its height by a drag up or down, in a box by one across, and back by a double click', async () => {
    await compared();
    await drawn();
    await drag([0.5, 0.2], [0.5, 0.6]);
    await expect.poll(() => query('y.val/loss')).toMatch(/^[\d.]+\.\.[\d.]+$/);
    expect(query('zoom')).toBeNull();
    await settle(page);
    await page.locator('.u-over').first().dblclick();
    await expect.poll(() => query('y.val/loss')).toBeNull();
    await settle(page);
    await drag([0.2, 0.2], [0.6, 0.7]);
    await expect.poll(() => query('zoom')).toMatch(/\.\./);
    await expect.poll(() => query('y.val/loss')).toMatch(/\.\./);
  });

  test('moves its part with Shift and a drag', async () => {
    await compared('&zoom=10..20');
    await drawn();
    await page.keyboard.down('Shift');
    await drag([0.6, 0.5], [0.1, 0.5]);
    await page.keyboard.up('Shift');
    await expect.poll(() => rangeIn('zoom')[0]).toBeGreaterThan(13);
    const [low = 0, high = 0] = rangeIn('zoom');
    expect(high - low).toBeCloseTo(10, 3);
  });

  test('moves its part up and down too, where its height is set', async () => {
    await compared('&zoom=10..20&y.val/loss=0..2');
    await drawn();
    await page.keyboard.down('Shift');
    await drag([0.5, 0.3], [0.6, 0.8]);
    await page.keyboard.up('Shift');
    await expect.poll(() => rangeIn('y.val/loss')[0]).toBeCloseTo(1, 1);
    const [low = 0, high = 0] = rangeIn('y.val/loss');
    expect(high - low).toBeCloseTo(2, 3);
  });

  test('has its values inside, the nearest to the pointer first', async () => {
    await compared('', 7);
    await drawn();
    await page.locator('.u-over').first().waitFor();
    const box = await page.locator('.u-over').first().boundingBox();
    const chart = await page.locator('.chart').first().boundingBox();
    if (box === null || chart === null) throw new Error('There is no plot.');
    for (const [share, first] of [
      [0.02, 'run 6'],
      [0.98, 'run 0'],
    ] as const) {
      await page.mouse.move(box.x + box.width * 0.97, box.y + box.height * share);
      const tip = page.locator('.tip').first();
      await expect.poll(() => tip.locator('bdi').first().innerText()).toContain(first);
      const isInside = async (): Promise<boolean> => {
        const place = await tip.boundingBox();
        return (
          place !== null &&
          place.x >= chart.x &&
          place.x + place.width <= chart.x + chart.width &&
          place.y + place.height <= chart.y + chart.height
        );
      };
      await expect.poll(isInside).toBe(true);
    }
  });

  test.each([
    [1440, 900],
    [1280, 600],
  ])('enlarged at %i by %i is whole, with its horizontal axis', async (width, height) => {
    await page.setViewportSize({ width, height });
    await compared('&chart=val%2Floss', 5);
    await page.locator('dialog .plot canvas').waitFor();
    await settle(page);
    const [dialog, canvas] = await page
      .locator('dialog, dialog .plot canvas')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON() as DOMRect));
    expect(canvas?.bottom).toBeLessThanOrEqual((dialog?.bottom ?? 0) - 8);
    expect(dialog?.bottom).toBeLessThanOrEqual(height);
    expect(canvas?.height).toBeGreaterThan(height * 0.5);
    await page.setViewportSize({ width, height: height - 100 });
    await expect
      .poll(async () => (await page.locator('dialog .plot canvas').boundingBox())?.height)
      .toBeLessThan((canvas?.height ?? 0) - 60);
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 1440, height: 800 });
  });

  test('is saved as CSV, and its link is copied', async () => {
    await compared();
    await drawn();
    const menu = async (name: string) => {
      await page.locator('.chart').first().hover();
      await page.getByLabel('More for the chart of val/loss').click();
      await page.getByRole('button', { name, exact: true }).click();
    };
    const [download] = await Promise.all([page.waitForEvent('download'), menu('CSV')]);
    const lines = (await readFile(await download.path(), 'utf8')).split('\r\n');
    expect(lines.slice(0, 2)).toEqual(['step,run 0,run 1,run 2', '0,2.1,2.2,2.3']);
    expect(lines).toHaveLength(42);
    await page.keyboard.press('Escape');
    await menu('Copy link');
    await page.getByText('The link to this chart is copied.').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('chart=val%2Floss');
  });
});

describe('the charts of a page', () => {
  const titles = () => page.locator('.chart figcaption strong').allInnerTexts();
  const boxOf = async (title: string) => {
    const box = await page.locator('.chart-place', { hasText: title }).first().boundingBox();
    if (box === null) throw new Error(`There is no chart of ${title}.`);
    return box;
  };

  test('are put together from several metrics, and kept in the address', async () => {
    await compared();
    await drawn();
    const add = async (kind: string, act: () => Promise<void>) => {
      await page.getByRole('button', { name: 'Add a panel' }).click();
      await page.getByLabel('It shows').selectOption({ label: kind });
      await act();
      await page.getByRole('button', { name: 'Add the panel' }).click();
    };
    await add('curves of several metrics', async () => {
      await page.getByLabel('train/loss', { exact: true }).check();
      await page.getByLabel('val/loss', { exact: true }).check();
      expect(await axeFindings(page)).toEqual([]);
    });
    await add('last values of one metric by another', async () => {
      await page.getByLabel('Vertical axis').selectOption('test_accuracy');
      await page.getByLabel('Horizontal axis', { exact: true }).last().selectOption('val/loss');
    });
    await add('last values as bars', () => page.getByLabel('test_accuracy', { exact: true }).check());
    const panels = page.getByRole('region', { name: 'Panels' });
    await expect.poll(() => panels.locator('.chart').count()).toBe(3);
    await page.reload();
    await drawn();
    const lines = panels.getByRole('img', { name: /^train\/loss, val\/loss by step/ });
    await expect
      .poll(() => lines.getAttribute('aria-label'))
      .toMatch(/run 0 · train\/loss ends at 0\.1; run 1/);
    await panels.getByRole('img', { name: /^test_accuracy by val\/loss/ }).waitFor();
    await panels.getByRole('group', { name: 'test_accuracy' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await panels.locator('.chart').first().hover();
    await panels.getByLabel('More for the chart of train/loss, val/loss').click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await expect.poll(() => panels.locator('.chart').count()).toBe(2);
  });

  test('change their places by a drag or by the menu, and the address holds their order', async () => {
    await compared();
    await drawn();
    const section = () =>
      page.locator('.chart-section', { hasText: 'Metrics' }).locator('strong').allInnerTexts();
    await expect.poll(section).toEqual(['spiked', 'epoch']);
    const heads = page.locator('.chart-section', { hasText: 'Metrics' }).locator('figcaption');
    await heads
      .nth(1)
      .dragTo(heads.nth(0), { sourcePosition: { x: 40, y: 10 }, targetPosition: { x: 40, y: 10 } });
    await expect.poll(section).toEqual(['epoch', 'spiked']);
    await page.reload();
    await drawn();
    await expect.poll(section).toEqual(['epoch', 'spiked']);
    await heads.nth(0).hover();
    await page.getByLabel('More for the chart of epoch').click();
    await page.getByRole('button', { name: 'Later', exact: true }).click();
    await expect.poll(section).toEqual(['spiked', 'epoch']);
    expect(await titles()).toContain('val/loss');
  });

  test('change their sizes by a drag at the corner, and the address holds them', async () => {
    await compared();
    await drawn();
    const before = await boxOf('val/loss');
    await page.mouse.move(before.x + before.width - 4, before.y + before.height - 4);
    await page.mouse.down();
    await page.mouse.move(before.x + before.width * 1.9, before.y + before.height * 1.9, { steps: 4 });
    await page.mouse.up();
    await expect.poll(async () => (await boxOf('val/loss')).height).toBeGreaterThan(before.height * 1.8);
    expect((await boxOf('val/loss')).width).toBeGreaterThan(before.width * 1.8);
    await page.reload();
    await drawn();
    await expect.poll(async () => (await boxOf('val/loss')).height).toBeGreaterThan(before.height * 1.8);
  });
});

describe('beside the table', () => {
  test('five curves with a logarithmic axis, relative time and smoothing 10 take five clicks', async () => {
    await visit(page, `projects/${project_id}`);
    await page.locator('.row.body').first().waitFor();
    const hands = countedHands(page);
    await hands.click(page.getByRole('button', { name: 'Curves' }));
    await hands.click(page.getByRole('button', { name: 'Log y' }));
    await hands.choose(page.getByLabel('Horizontal axis'), 'Relative time');
    await hands.slideTo(page.getByLabel('Smoothing'), 0.16);
    await drawn();
    expect([query('log'), query('x')]).toEqual(['y', 'relative']);
    expect(Number(query('smooth'))).toBeCloseTo(0.1, 1);
    expect(hands.clicks).toBe(5);
    expect(await page.locator('.row.body .drawn-mark').count()).toBe(5);
  });

  test('or six keys', async () => {
    await visit(page, `projects/${project_id}`);
    await page.locator('.row.body').first().waitFor();
    const hands = countedHands(page);
    await hands.press('v');
    await drawn();
    await hands.press('l', 't', 's', '1', '0');
    await expect.poll(() => query('smooth')).toBe('0.1');
    expect([query('log'), query('x')]).toEqual(['y', 'relative']);
    expect(await page.locator('.row.body .drawn-mark').count()).toBe(5);
    expect(hands.keys).toBe(6);
  });

  test('leave the tools at their places while somebody changes settings', async () => {
    await visit(page, `projects/${project_id}?panel=curves`);
    await drawn();
    const placeOf = async (name: string) => (await page.getByRole('button', { name }).boundingBox())?.x;
    const before = await placeOf('Log y');
    await page.getByLabel('Horizontal axis').selectOption('Relative time');
    await page.getByLabel('Smoothing').fill('60');
    await settle(page);
    expect(await placeOf('Log y')).toBe(before);
  });

  test('have values at a fixed crosshair that stay inside their charts', async () => {
    for (const step of [8, 14, 26]) {
      await visit(page, `projects/${project_id}?panel=curves&at=${step}`);
      await drawn();
      await expect.poll(() => page.locator('.tip').count()).toBeGreaterThan(3);
      const isInside = () =>
        page.locator('.chart:has(.tip)').evaluateAll((all) =>
          all.every((chart) => {
            const [frame, tip] = [chart, chart.querySelector('.tip')].map((one) =>
              one?.getBoundingClientRect(),
            );
            return frame && tip && tip.left >= frame.left && tip.right <= frame.right;
          }),
        );
      await expect.poll(isInside, { message: `step ${step}` }).toBe(true);
    }
  });

  test('are the curves of the chosen rows', async () => {
    await visit(page, `projects/${project_id}?panel=curves`);
    await page.getByLabel('Choose run 6').check();
    await page.getByLabel('Choose run 1').check();
    await drawn();
    const rows = page.locator('.row.body:has(.drawn-mark) .cell.name a');
    await expect.poll(() => rows.allInnerTexts()).toEqual(['run 6', 'run 1']);
    expect(await axeFindings(page)).toEqual([]);
  });
});

test('no script failed, and none broke the policy of the page', () => {
  expect(service.faults).toEqual([]);
});
