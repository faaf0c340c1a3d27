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
    expect(await page.locator('.legend .marked').count()).toBe(1);
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
    await expect.poll(async () => new Set((await lines()).slice(0, 2)).size).toBe(1);
    expect((await lines())[1]).toBeGreaterThan(0);
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
    const sections = await page.locator('.chart-section h3').allInnerTexts();
    expect(sections).toEqual(['val', 'train', 'Metrics']);
    expect(await page.locator('.single h4').allInnerTexts()).toEqual(['test_accuracy']);
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
    await hands.choose(page.getByLabel('Metric on the horizontal axis'), 'epoch');
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
    await expect.poll(() => page.locator('.chart-section h3').first().innerText()).toBe('Pinned');
    await page.evaluate(() => window.scrollTo(0, 0));
    const picture = () =>
      page
        .locator('.chart', { hasText: 'spiked' })
        .locator('.plot canvas')
        .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
    const before = await picture();
    await page.getByLabel('No outliers').check();
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
    await page.locator('.chart', { hasText: 'spiked' }).locator('.plot').focus();
    await page.keyboard.press('f');
    await page.locator('dialog .plot canvas').waitFor();
    await page.reload();
    await page.locator('dialog .plot canvas').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await expect.poll(() => query('chart')).toBeNull();
    expect([query('pin'), query('outliers'), query('y.spiked')]).toEqual(['spiked', 'out', '0.5..2']);
  });
});

describe('beside the table', () => {
  test('five curves with a logarithmic axis, relative time and smoothing 10 take four clicks', async () => {
    await visit(page, `projects/${project_id}`);
    await page.locator('.row.body').first().waitFor();
    const hands = countedHands(page);
    await hands.click(page.getByRole('button', { name: 'Curves' }));
    await hands.click(page.getByRole('button', { name: 'Log y' }));
    await hands.click(page.getByRole('button', { name: 'Relative' }));
    await hands.slideTo(page.getByLabel('Smoothing'), 0.16);
    await drawn();
    expect(await page.locator('.legend li').count()).toBe(5);
    expect([query('log'), query('x')]).toEqual(['y', 'relative']);
    expect(Number(query('smooth'))).toBeCloseTo(0.1, 1);
    expect(hands.clicks).toBe(4);
    expect(await page.locator('.row.body .dot').count()).toBe(5);
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
    expect(await page.locator('.legend li').count()).toBe(5);
    expect(hands.keys).toBe(6);
  });

  test('are the curves of the chosen rows', async () => {
    await visit(page, `projects/${project_id}?panel=curves`);
    await page.getByLabel('Choose run 6').check();
    await page.getByLabel('Choose run 1').check();
    await drawn();
    await expect.poll(() => page.locator('.legend bdi').allInnerTexts()).toEqual(['run 6', 'run 1']);
    expect(await axeFindings(page)).toEqual([]);
  });
});

test('no script failed, and none broke the policy of the page', () => {
  expect(service.faults).toEqual([]);
});
