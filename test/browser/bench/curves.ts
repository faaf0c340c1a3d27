import type { Page } from 'playwright-core';
import type { endpoint as logMetrics } from '../../../functions/experiments/metrics/log-metrics.endpoint.ts';
import type { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import type { endpoint as updateExperiment } from '../../../functions/experiments/records/update-experiment.endpoint.ts';
import type { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import type { Client } from '../../../shared/client/client.ts';
import { visit } from '../console-service.ts';
import type { Figure } from './figure.ts';

const runs = 10;
const points = 100_000;
const batch = 1_000;

/** Ten ended experiments of 100,000 points each; those that an earlier call has recorded are taken. */
export async function recordCurves(client: Client, project_id: string): Promise<string[]> {
  const present = await client.call<typeof listExperiments>('GET /projects/{project_id}/experiments', {
    path: { project_id },
    query: { limit: 100 },
  });
  const found = present.filter(({ name, status }) => name.startsWith('long-') && status === 'SUCCEEDED');
  if (found.length === runs) return found.map(({ experiment_id }) => experiment_id);
  return Promise.all(Array.from({ length: runs }, (_, run) => recordCurve(client, project_id, run)));
}

async function recordCurve(client: Client, project_id: string, run: number): Promise<string> {
  const { experiment_id } = await client.call<typeof createExperiment>(
    'POST /projects/{project_id}/experiments',
    { path: { project_id }, body: { name: `long-${run}` } },
  );
  const path = { project_id, experiment_id };
  for (let from = 0; from < points; from += batch) {
    const metrics = Array.from({ length: batch }, (_, index) => ({
      name: 'loss',
      value: Math.exp(-(from + index) / 30_000) + 0.05 * Math.sin((from + index) * (run + 1)),
      step: from + index,
      time: new Date(1.77e12 + from + index).toISOString(),
    }));
    await client.call<typeof logMetrics>('POST /projects/{project_id}/experiments/{experiment_id}/metrics', {
      path,
      body: { metrics },
    });
  }
  await client.call<typeof updateExperiment>('PATCH /projects/{project_id}/experiments/{experiment_id}', {
    path,
    body: { status: 'SUCCEEDED' },
  });
  return experiment_id;
}

/** From the arrival of the last curve to the last stroke on the canvas after it. */
export async function measureCurves(
  page: Page,
  project_id: string,
  ids: readonly string[],
): Promise<Figure[]> {
  await visit(page, 'projects');
  await page.evaluate(() => {
    const { prototype } = CanvasRenderingContext2D;
    prototype.stroke = new Proxy(prototype.stroke, {
      apply(stroke, context, path) {
        Reflect.apply(stroke, context, path);
        document.documentElement.dataset['stroke'] = String(performance.now());
      },
    });
    performance.setResourceTimingBufferSize(2_000);
    performance.clearResourceTimings();
  });
  await visit(page, `projects/${project_id}/compare?experiments=${ids.join()}&tab=curves`);
  await page.locator('.plot canvas').waitFor();
  // The page before may still be reading the curves of its table: only those of these experiments count.
  await page.waitForFunction((wanted) => {
    const read = performance.getEntriesByType('resource').map(({ name }) => name);
    return wanted.every((id) => read.some((name) => name.includes(`/${id}/metrics?`)));
  }, ids);
  await page.waitForTimeout(2_000);
  const { value, series } = await page.evaluate((wanted) => {
    const ends = performance
      .getEntriesByType('resource')
      .flatMap((entry) =>
        entry instanceof PerformanceResourceTiming &&
        wanted.some((id) => entry.name.includes(`/${id}/metrics?`))
          ? [entry.responseEnd]
          : [],
      );
    const { stroke } = document.documentElement.dataset;
    return {
      value: Number(stroke) - Math.max(...ends),
      series: document.querySelectorAll('.legend li').length,
    };
  }, ids);
  if (series !== ids.length || !(value > 0)) throw new Error(`${series} curves were drawn after ${value} ms`);
  return [
    {
      what: `${runs} curves of ${points} points drawn after their data arrived`,
      value,
      unit: 'ms',
      bound: 300,
    },
  ];
}
