import type { Page } from 'playwright-core';
import type { endpoint as logMetrics } from '../../../functions/experiments/metrics/log-metrics.endpoint.ts';
import type { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import type { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import type { Client } from '../../../shared/client/client.ts';
import { settle, visit } from '../console-service.ts';
import type { Figure } from './figure.ts';

const runs = 50;
const seconds = 15;

/** Experiments that run for ever; those that an earlier call has recorded are taken. */
export async function recordLive(client: Client, project_id: string): Promise<void> {
  const present = await client.call<typeof listExperiments>('GET /projects/{project_id}/experiments', {
    path: { project_id },
    query: { limit: 100 },
  });
  const live = present.filter(({ status }) => status === 'RUNNING').length;
  for (let run = live; run < runs; run += 1) {
    const { experiment_id } = await client.call<typeof createExperiment>(
      'POST /projects/{project_id}/experiments',
      { path: { project_id }, body: { name: `live-${run}` } },
    );
    await client.call<typeof logMetrics>('POST /projects/{project_id}/experiments/{experiment_id}/metrics', {
      path: { project_id, experiment_id },
      body: { metrics: [1, 2, 3].map((step) => ({ name: 'accuracy', value: step / 4, step })) },
    });
  }
}

/** What a page asks for while it is looked at, and while it is not. */
export async function countRequests(page: Page): Promise<{ live: number; hidden: number }> {
  let requests = 0;
  page.on('request', () => {
    requests += 1;
  });
  await page.waitForTimeout(seconds * 1000);
  const live = requests / seconds;
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { value: true, configurable: true });
    Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  });
  await page.waitForTimeout(2_000);
  requests = 0;
  await page.waitForTimeout(8_000);
  return { live, hidden: requests };
}

export async function measureLive(page: Page, project_id: string): Promise<Figure[]> {
  await visit(page, `projects/${project_id}`);
  await settle(page);
  await page.waitForTimeout(3_000);
  const { live, hidden } = await countRequests(page);
  return [
    { what: `requests of a table with ${runs} live experiments`, value: live, unit: '/s', bound: 2 },
    { what: 'requests of a hidden page', value: hidden, unit: '', bound: 0 },
  ];
}
