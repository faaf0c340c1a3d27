import type { Page } from 'playwright-core';
import type { endpoint as logMetrics } from '../../../functions/experiments/metrics/log-metrics.endpoint.ts';
import type { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import type { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import type { Client } from '../../../shared/client/client.ts';
import { visit } from '../console-service.ts';
import { endRun } from '../record-run.ts';
import type { Figure } from './figure.ts';
import { mainThread } from './scroll.ts';

const runs = 5;
const metrics = 2_000;
const batch = 1_000;
const repeats = 3;

/** Ended experiments with so many metrics each; those that an earlier call has recorded are taken. */
export async function recordWide(client: Client, project_id: string): Promise<string[]> {
  const present = await client.call<typeof listExperiments>('GET /projects/{project_id}/experiments', {
    path: { project_id },
    query: { limit: 100, fields: 'experiment_id,name,status' },
  });
  const found = present.filter(({ name, status }) => name.startsWith('wide-') && status === 'SUCCEEDED');
  const ids = found.slice(0, runs).map(({ experiment_id }) => experiment_id);
  for (let run = ids.length; run < runs; run += 1) ids.push(await recordRun(client, project_id, run));
  return ids;
}

async function recordRun(client: Client, project_id: string, run: number): Promise<string> {
  const { experiment_id } = await client.call<typeof createExperiment>(
    'POST /projects/{project_id}/experiments',
    { path: { project_id }, body: { name: `wide-${run}` } },
  );
  const path = { project_id, experiment_id };
  for (let from = 0; from < metrics; from += batch)
    await client.call<typeof logMetrics>('POST /projects/{project_id}/experiments/{experiment_id}/metrics', {
      path,
      body: {
        metrics: Array.from({ length: batch }, (_, index) => ({
          name: `layer_${from + index}/grad_norm`,
          value: Math.sin((from + index) * (run + 1)),
          step: 1,
        })),
      },
    });
  await endRun(client, path, 'SUCCEEDED');
  return experiment_id;
}

/** The comparison of experiments with many metrics: its answer, and the time from there until the page shows it. */
export async function measureCompare(
  page: Page,
  project_id: string,
  ids: readonly string[],
): Promise<Figure[]> {
  const found: { answer: number; shown: number; spent: number }[] = [];
  const { read, close } = await mainThread(page);
  const cpu = async () => (await read()).get('TaskDuration') ?? Number.NaN;
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    await visit(page, 'projects');
    await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor();
    await page.evaluate(() => {
      performance.clearResourceTimings();
      const noticed = new MutationObserver(() => {
        if (document.querySelector('.compare-table') === null) return;
        noticed.disconnect();
        // After the frame that shows it.
        requestAnimationFrame(() => setTimeout(() => performance.mark('compared')));
      });
      performance.clearMarks('compared');
      noticed.observe(document.body, { childList: true, subtree: true });
    });
    const before = await cpu();
    await visit(page, `projects/${project_id}/compare?experiments=${ids.join()}`);
    await page.locator('.compare-table').waitFor();
    await page.waitForFunction(() => performance.getEntriesByName('compared').length > 0);
    const spent = (await cpu()) - before;
    const times = await page.evaluate(() => {
      const answers = performance
        .getEntriesByType('resource')
        .filter((one) => /\/compare\?|\/experiments\?|\/projects\/[^/?]+$/.test(one.name));
      const compare = answers.find(({ name }) => name.includes('/compare?'));
      const ends = answers.map((one) => (one as PerformanceResourceTiming).responseEnd);
      const mark = performance.getEntriesByName('compared').at(-1)?.startTime ?? Number.NaN;
      return { answer: compare?.duration ?? Number.NaN, shown: mark - Math.max(...ends) };
    });
    found.push({ ...times, spent });
  }
  await close();
  const least = (values: readonly number[]): number => Math.min(...values);
  return [
    {
      what: `${metrics} metrics of ${ids.length} experiments compared, CPU time of the page, best of ${repeats}`,
      value: least(found.map(({ spent }) => spent)),
      unit: 'ms',
      bound: 200,
    },
    { what: '  shown after the answers', value: least(found.map(({ shown }) => shown)), unit: 'ms' },
    { what: '  the answer of the service', value: least(found.map(({ answer }) => answer)), unit: 'ms' },
  ];
}
