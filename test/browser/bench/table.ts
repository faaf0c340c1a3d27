import type { Page } from 'playwright-core';
import { visit } from '../console-service.ts';
import type { Figure } from './figure.ts';
import { heapBytes, scroll } from './scroll.ts';

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
  return [
    { what: `first rows of ${count} experiments after the click`, value: first, unit: 's', bound: 1 },
    { what: 'all of them', value: all, unit: 's' },
    { what: 'heap with all of them', value: heap, unit: 'MB', bound: 60 },
    { what: 'frames a second while scrolling, median', value: rate, unit: '/s', bound: 55, isLeast: true },
    { what: 'CPU time of a frame while scrolling', value: cpu, unit: 'ms' },
    { what: '  in scripts', value: script, unit: 'ms' },
    { what: '  in style and layout', value: layout, unit: 'ms' },
  ];
}
