import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { Figure } from './figure.ts';
import { measureFirstPage } from './first-page.ts';
import { heapBytes, scroll } from './scroll.ts';

const recorder = join(import.meta.dirname, 'record-mlflow.py');
const port = 5_817;
const url = `http://127.0.0.1:${port}`;

async function startServer(python: string, folder: string): Promise<ChildProcess> {
  const args = ['-m', 'mlflow', 'server', '--port', String(port), '--workers', '1'];
  const store = ['--backend-store-uri', `sqlite:///${folder}/mlflow.db`, '--artifacts-destination', folder];
  const server = spawn(python, [...args, ...store], { stdio: 'ignore', detached: true });
  for (let attempt = 0; attempt < 240; attempt += 1) {
    const answer = await fetch(`${url}/health`).catch(() => undefined);
    if (answer?.ok === true) return server;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error('The server of MLflow did not start.');
}

/** The scrolling element around the rows of MLflow's table. */
const markScroller = (page: Page): Promise<boolean> =>
  page.evaluate(() => {
    const row = document.querySelector('.ag-center-cols-container, [role=row], table');
    for (let one = row?.parentElement; one != null; one = one.parentElement)
      if (one.scrollHeight > one.clientHeight + 50 && /auto|scroll/.test(getComputedStyle(one).overflowY)) {
        one.setAttribute('data-scroller', '');
        return true;
      }
    return false;
  });

/**
 * MLflow's own page with as many runs, beside figures of the console. It shows 100 rows and more at a click, so that its
 * heap and its frames are those of 100.
 */
export async function measureMlflow(
  browser: Browser,
  python: string,
  count: number,
  own: readonly Figure[],
): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'console-mlflow-'));
  const experiment = execFileSync(python, [recorder, `sqlite:///${folder}/mlflow.db`, String(count)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
  const server = await startServer(python, folder);
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    const { bytes, files } = await measureFirstPage(page, `${url}/#/experiments`, (one) =>
      one.includes('/ajax-api/'),
    );
    const begun = performance.now();
    await page.evaluate((id) => {
      location.hash = `#/experiments/${id}/runs`;
    }, experiment);
    await page.locator(`a[href*="/runs/"]`).first().waitFor();
    const first = (performance.now() - begun) / 1000;
    await page.waitForTimeout(3_000);
    const heap = (await heapBytes(page)) / 1e6;
    const isScrolled = await markScroller(page);
    const scrolled = isScrolled ? await scroll(page, '[data-scroller]') : undefined;
    await context.close();
    const ownValue = (what: string) =>
      own.find((figure) => figure.what.startsWith(what))?.value ?? Number.NaN;
    const beside = (what: string, value: number, unit: string, ours: string): Figure[] => [
      { what: `MLflow: ${what}`, value, unit },
      { what: `  times the console's`, value: value / ownValue(ours), unit: '×' },
    ];
    return [
      ...beside('first page, compressed', bytes / 1000, 'KB', 'first page'),
      ...beside('files of the first page', files, '', 'files of the first page'),
      ...beside('first 100 rows', first, 's', 'first rows'),
      ...beside('heap with 100 rows', heap, 'MB', 'heap'),
      ...(scrolled === undefined
        ? []
        : beside('CPU time of a frame while scrolling', scrolled.cpu, 'ms', 'CPU time of a frame')),
    ];
  } finally {
    const ended = once(server, 'exit');
    if (server.pid !== undefined) process.kill(-server.pid, 'SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  }
}
