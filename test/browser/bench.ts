import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { consoleFiles } from '../../functions/console/console-files.ts';
import type { endpoint as createExperiment } from '../../functions/experiments/create-experiment.endpoint.ts';
import type { endpoint as logMetrics } from '../../functions/experiments/log-metrics.endpoint.ts';
import { recordMany } from '../../infra/demo/record-many.ts';
import { findChromium } from './chromium.ts';
import { type ConsoleService, settle, startConsole, visit } from './console-service.ts';

// `npm run bench:console`: the figures of the console, in Chromium on a service of its own.
const usage = `Usage: npm run bench:console -- [--count <number>]
  --count  experiments of the table (10,000); recording them takes most of the time`;

interface Figure {
  what: string;
  value: number;
  unit: string;
  /** What it must be at most, or at least where `isLeast`. */
  bound: number;
  isLeast?: boolean;
}

const liveRuns = 50;
const curveRuns = 10;
const curvePoints = 100_000;
const pointsMost = 1_000;

async function firstPage(): Promise<Figure> {
  const { script, style, preload, files } = await consoleFiles();
  const bytes = [script, style, ...preload].reduce(
    (sum, name) => sum + Buffer.from(files[name]?.gzip ?? '', 'base64').length,
    0,
  );
  return { what: 'first page, compressed', value: bytes / 1000, unit: 'KB', bound: 150 };
}

async function table(page: Page, project_id: string, count: number): Promise<Figure[]> {
  await visit(page, 'projects');
  const click = Date.now();
  await page.locator(`a[href="#/projects/${project_id}"]`).first().click();
  await page.locator('.row.body').first().waitFor();
  const first = (Date.now() - click) / 1000;
  await page.waitForFunction(
    (rows) => document.querySelector('[role=table]')?.getAttribute('aria-rowcount') === String(rows + 1),
    count,
  );
  const all = (Date.now() - click) / 1000;
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  const rates: number[] = await page.evaluate(async () => {
    const scroller = document.querySelector('.table');
    const found: number[] = [];
    let before = performance.now();
    for (let frame = 0; frame < 240; frame += 1) {
      scroller?.scrollBy(0, 60);
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      found.push(1000 / (now - before));
      before = now;
    }
    return found.sort((a, b) => a - b);
  });
  return [
    { what: `first rows of ${count} experiments after the click`, value: first, unit: 's', bound: 1 },
    { what: 'all of them', value: all, unit: 's', bound: 60 },
    { what: 'heap with all of them', value: usedSize / 1e6, unit: 'MB', bound: 60 },
    {
      what: 'frames a second while scrolling, median',
      value: rates[Math.floor(rates.length / 2)] ?? 0,
      unit: '/s',
      bound: 55,
      isLeast: true,
    },
  ];
}

async function recordCurves({ client }: ConsoleService, project_id: string): Promise<string[]> {
  const ids: string[] = [];
  for (let run = 0; run < curveRuns; run += 1) {
    const { experiment_id } = await client.call<typeof createExperiment>(
      'POST /projects/{project_id}/experiments',
      {
        path: { project_id },
        body: { name: `long-${run}` },
      },
    );
    ids.push(experiment_id);
    for (let from = 0; from < curvePoints; from += pointsMost) {
      const metrics = Array.from({ length: pointsMost }, (_, index) => ({
        name: 'loss',
        value: Math.exp(-(from + index) / 30_000) + 0.05 * Math.sin((from + index) * (run + 1)),
        step: from + index,
        time: new Date(1.77e12 + from + index).toISOString(),
      }));
      await client.call<typeof logMetrics>(
        'POST /projects/{project_id}/experiments/{experiment_id}/metrics',
        {
          path: { project_id, experiment_id },
          body: { metrics },
        },
      );
    }
  }
  return ids;
}

/** Time from when the data is there to the drawn chart: smoothing is changed, which draws everything anew. */
async function curves(page: Page, project_id: string, ids: readonly string[]): Promise<Figure> {
  await visit(page, `projects/${project_id}/compare?experiments=${ids.join()}&tab=curves`);
  await page.locator('.plot canvas').waitFor();
  await page.waitForFunction((runs) => document.querySelectorAll('.legend li').length === runs, ids.length);
  await page.waitForTimeout(20_000);
  const value = await page.evaluate(async () => {
    const frame = () => new Promise(requestAnimationFrame);
    const button = [...document.querySelectorAll('button')].find((one) => one.textContent === 'Relative');
    const begun = performance.now();
    button?.click();
    await frame();
    await frame();
    return performance.now() - begun;
  });
  return { what: `${curveRuns} curves of ${curvePoints} points drawn`, value, unit: 'ms', bound: 300 };
}

async function liveRequests(page: Page, { client }: ConsoleService): Promise<Figure[]> {
  const { project_id } = await recordMany(client, 1);
  for (let run = 0; run < liveRuns; run += 1) {
    const { experiment_id } = await client.call<typeof createExperiment>(
      'POST /projects/{project_id}/experiments',
      {
        path: { project_id },
        body: { name: `live-${run}` },
      },
    );
    const metrics = [1, 2, 3].map((step) => ({ name: 'accuracy', value: step / 4, step }));
    await client.call<typeof logMetrics>('POST /projects/{project_id}/experiments/{experiment_id}/metrics', {
      path: { project_id, experiment_id },
      body: { metrics },
    });
  }
  await visit(page, `projects/${project_id}`);
  await settle(page);
  await page.waitForTimeout(3_000);
  let requests = 0;
  page.on('request', () => {
    requests += 1;
  });
  const seconds = 15;
  await page.waitForTimeout(seconds * 1000);
  const live = requests / seconds;
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { value: true, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  });
  await page.waitForTimeout(2_000);
  requests = 0;
  await page.waitForTimeout(8_000);
  return [
    { what: `requests of a table with ${liveRuns} live experiments`, value: live, unit: '/s', bound: 2 },
    { what: 'requests of a hidden page', value: requests, unit: '', bound: 0 },
  ];
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { count: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  const count = Number(values.count ?? 10_000);
  if (values.help === true || !Number.isInteger(count) || count < 100) {
    console.log(usage);
    return values.help === true ? 0 : 2;
  }
  if (findChromium() === undefined) {
    console.log('NOTHING WAS MEASURED: there is no Chromium (`apt-get install chromium`, or set CHROMIUM).');
    return 0;
  }
  const service = await startConsole();
  try {
    const { project_id, seconds } = await recordMany(service.client, count, (done) =>
      console.log(`recorded ${done}`),
    );
    console.log(`recorded ${count} experiments in ${seconds.toFixed(0)} s`);
    const page = await service.enter();
    const figures = [
      await firstPage(),
      ...(await table(page, project_id, count)),
      ...(await liveRequests(page, service)),
    ];
    const { project_id: other } = await recordMany(service.client, 1);
    figures.push(await curves(page, other, await recordCurves(service, other)));
    for (const { what, value, unit, bound, isLeast = false } of figures) {
      const isMet = isLeast ? value >= bound : value <= bound;
      console.log(
        `${isMet ? 'ok  ' : 'OVER'} ${what}: ${value.toPrecision(3)} ${unit} (${isLeast ? '≥' : '≤'} ${bound})`,
      );
    }
    return figures.every(({ value, bound, isLeast }) => (isLeast ? value >= bound : value <= bound)) ? 0 : 1;
  } finally {
    await service.close();
  }
}

process.exit(await main());
