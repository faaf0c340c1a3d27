import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeFindings } from './axe.ts';
import { type ConsoleService, settle, startConsole, visit } from './console-service.ts';
import { countedHands } from './counted-hands.ts';
import { newProject, recordRun } from './record-run.ts';

let service: ConsoleService;
let page: Page;
let project_id: string;

beforeAll(async () => {
  service = await startConsole();
  page = await service.enter({ width: 1440 });
  project_id = await newProject(service.client, 'grouped');
  for (let run = 0; run < 12; run += 1) {
    const [optimizer, depth] = [run % 2 === 0 ? 'adam' : 'sgd', String((run % 3) + 1)];
    const last = (run % 2 === 0 ? 0.8 : 0.5) + run / 100;
    await recordRun(service.client, project_id, {
      name: `run ${run}`,
      params: { optimizer, depth, lr: String(10 ** -(1 + (run % 4))) },
      metrics: { accuracy: [last / 2, last], loss: [1, 1 - last] },
      status: 'SUCCEEDED',
    });
  }
});
afterAll(() => service.close());

const cells = (index: number) => page.locator(`.grouped tbody tr > :nth-child(${index})`).allInnerTexts();
const rows = (): Promise<string[]> => page.locator('.row.body .cell.name a').allInnerTexts();

describe('groups', () => {
  test('of two params open in place, and one click shows only the experiments of one', async () => {
    await visit(page, `projects/${project_id}`);
    const hands = countedHands(page);
    await hands.choose(page.getByLabel('Group by'), 'Group by optimizer');
    await hands.choose(page.getByLabel('Then by').first(), 'Then by depth');
    await expect.poll(async () => (await cells(3)).join()).toBe('2,2,2,2,2,2');
    expect(hands.clicks).toBe(4);
    expect([...new Set(await cells(1))].sort()).toEqual(['adam', 'sgd']);
    expect([...(await cells(2))].sort()).toEqual(['1', '1', '2', '2', '3', '3']);

    await hands.click(page.getByRole('button', { name: 'Experiments of adam, 1', exact: true }));
    await expect.poll(() => page.locator('.member th').allInnerTexts()).toEqual(['run 6', 'run 0']);
    await expect.poll(() => page.locator('.member').first().innerText()).toContain('0.86');
    expect(hands.clicks).toBe(5);
    expect(await axeFindings(page)).toEqual([]);

    await hands.click(page.getByRole('button', { name: 'Show only the 2 experiments of adam, 1' }));
    await expect.poll(rows).toEqual(['run 6', 'run 0']);
  });

  test('have curves: the mean of their runs, with a band, after one click', async () => {
    await visit(page, `projects/${project_id}?group=params.optimizer`);
    const hands = countedHands(page);
    await hands.click(page.getByRole('button', { name: 'Curves', exact: true }));
    await page.getByRole('button', { name: 'Draw adam' }).waitFor();
    expect(hands.clicks).toBe(1);
    const chart = page.getByRole('img', { name: /^accuracy by step: sgd ends at 0\.56; adam ends at 0\.85/ });
    await chart.waitFor();
    await settle(page);
    const colours = await chart.locator('canvas').evaluate((canvas) => {
      const { width, height } = canvas as HTMLCanvasElement;
      const { data } = (canvas as HTMLCanvasElement).getContext('2d')!.getImageData(0, 0, width, height);
      let [faint, full] = [0, 0];
      for (let at = 3; at < data.length; at += 4) {
        if (data[at]! > 20 && data[at]! < 80) faint += 1;
        if (data[at]! > 200) full += 1;
      }
      return { faint, full };
    });
    expect(colours.faint).toBeGreaterThan(500);
    expect(colours.full).toBeGreaterThan(500);
    expect(await axeFindings(page)).toEqual([]);
  });
});

describe('plots', () => {
  test('show the values of the table, and a brush chooses its rows', async () => {
    await visit(page, `projects/${project_id}`);
    const hands = countedHands(page);
    await hands.click(page.getByRole('button', { name: 'Plots', exact: true }));
    const panel = page.getByRole('region', { name: 'Values' });
    await panel.getByRole('img', { name: /^accuracy by (?:depth|lr)/ }).waitFor();
    expect(hands.clicks).toBe(1);
    await hands.choose(panel.getByLabel('Horizontal axis'), 'lr');
    await panel.getByRole('img', { name: /^accuracy by lr/ }).waitFor();
    expect(await panel.getByLabel('Colour by').inputValue()).toBe('accuracy');
    await panel
      .getByRole('slider', { name: /optimizer/ })
      .first()
      .focus();
    await hands.press('ArrowUp');
    await expect.poll(async () => (await rows()).length).toBe(6);
    expect(await axeFindings(page)).toEqual([]);
    await panel.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(async () => (await rows()).length).toBe(12);
  });
});

test('no script failed, and none broke the policy of the page', () => {
  expect(service.faults).toEqual([]);
});
