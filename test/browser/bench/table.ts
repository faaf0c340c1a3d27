import type { Page } from 'playwright-core';
import { visit } from '../console-service.ts';
import type { Figure } from './figure.ts';
import { heapBytes, scroll } from './scroll.ts';
import { tasksOf } from './tasks.ts';

/** The table of a project with so many experiments, from the click on the project to its last row. */
export async function measureTable(page: Page, project_id: string, count: number): Promise<Figure[]> {
  await visit(page, 'projects');
  const click = performance.now();
  await page.locator(`a[href="#/projects/${project_id}"]`).first().click();
  await page.locator('.row.body').first().waitFor();
  const first = (performance.now() - click) / 1000;
  await page.waitForFunction(
    (rows) => document.querySelector('[role=table]')?.getAttribute('aria-rowcount') === String(rows + 1),
    count,
    { timeout: 300_000 },
  );
  const all = (performance.now() - click) / 1000;
  const heap = (await heapBytes(page)) / 1e6;
  const { rate, cpu, script, layout } = await scroll(page, '.table');
  const key = await longestOfKeys(page);
  const back = await secondsOfReturn(page, project_id, count);
  return [
    { what: `first rows of ${count} experiments after the click`, value: first, unit: 's', bound: 1 },
    { what: 'all of them', value: all, unit: 's', bound: 4 },
    { what: 'all of them after Back', value: back, unit: 's', bound: 1 },
    { what: 'heap with all of them', value: heap, unit: 'MB', bound: 25 },
    { what: 'frames a second while scrolling, median', value: rate, unit: '/s', bound: 55, isLeast: true },
    { what: 'CPU time of a frame while scrolling', value: cpu, unit: 'ms' },
    { what: '  in scripts', value: script, unit: 'ms' },
    { what: '  in style and layout', value: layout, unit: 'ms' },
    { what: 'longest task while typing in the filter, best of 3', value: key, unit: 'ms', bound: 50 },
  ];
}

const typed = ['learning_rate < 0.01', "status = 'SUCCEEDED'", 'adam'];

/** CPU time of the longest task of the main thread while somebody types in the filter: the best of some repeats. */
async function longestOfKeys(page: Page): Promise<number> {
  const box = page.getByLabel('Filter', { exact: true });
  const found: number[] = [];
  for (let repeat = 0; repeat < 3; repeat += 1) {
    let longest = 0;
    for (const text of typed) {
      await box.fill('');
      await page.waitForTimeout(500);
      const tasks = await tasksOf(page, async () => {
        for (const key of text) {
          await page.keyboard.type(key);
          await page.waitForTimeout(150);
        }
      });
      longest = Math.max(longest, ...tasks);
    }
    found.push(longest);
  }
  await box.fill('');
  return Math.min(...found);
}

/** Seconds until all rows are there again for somebody who went to another page and came back. */
async function secondsOfReturn(page: Page, project_id: string, count: number): Promise<number> {
  await visit(page, `projects/${project_id}/settings`);
  await page.locator('[role=table]').waitFor({ state: 'detached' });
  const begun = performance.now();
  await page.goBack();
  await page.waitForFunction(
    (rows) => document.querySelector('[role=table]')?.getAttribute('aria-rowcount') === String(rows + 1),
    count,
  );
  return (performance.now() - begun) / 1000;
}
