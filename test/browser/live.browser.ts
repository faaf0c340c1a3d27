import { afterAll, beforeAll, expect, test } from 'vitest';
import type { endpoint as logMetrics } from '../../functions/experiments/metrics/log-metrics.endpoint.ts';
import { type ConsoleService, settle, startConsole, visit } from './console-service.ts';
import { endRun, newProject, recordRun } from './record-run.ts';

let service: ConsoleService;
let project_id: string;

beforeAll(async () => {
  service = await startConsole();
  project_id = await newProject(service.client, 'live');
});
afterAll(() => service.close());

const log = (experiment_id: string, step: number, value: number) =>
  service.client.call<typeof logMetrics>('POST /projects/{project_id}/experiments/{experiment_id}/metrics', {
    path: { project_id, experiment_id },
    body: { metrics: [{ name: 'accuracy', value, step }] },
  });

test('a running experiment is shown as it is, by one request that waits', async () => {
  const path = {
    project_id,
    experiment_id: await recordRun(service.client, project_id, {
      name: 'one',
      metrics: { accuracy: [0.25, 0.5] },
    }),
  };
  const page = await service.enter();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url().replace(/\?.*/, '')));
  await visit(page, `projects/${project_id}/experiments/${path.experiment_id}`);
  await page.locator('.plot canvas').first().waitFor();
  const best = page.locator('.figures dd').first();
  await settle(page);
  asked.length = 0;

  await log(path.experiment_id, 2, 0.625);
  await expect.poll(() => best.textContent()).toContain('0.625');
  await log(path.experiment_id, 3, 0.875);
  await expect.poll(() => best.textContent()).toContain('0.875');
  const requests = [...asked];
  await endRun(service.client, path, 'SUCCEEDED');
  await page.getByText('SUCCEEDED').first().waitFor();

  expect(new Set(requests.map((url) => url.slice(url.lastIndexOf('/'))))).toEqual(new Set(['/live']));
  expect(service.faults).toEqual([]);
  await page.context().close();
});

test('the table of a project shows what its running experiments report, and new ones', async () => {
  const first = await recordRun(service.client, project_id, { name: 'first', metrics: { accuracy: [0.25] } });
  const page = await service.enter();
  await visit(page, `projects/${project_id}`);
  const rowOf = (name: string) => page.locator('.row.body', { hasText: name });
  await expect.poll(() => rowOf('first').textContent()).toContain('0.25');

  await log(first, 1, 0.375);
  await expect.poll(() => rowOf('first').textContent()).toContain('0.375');
  await recordRun(service.client, project_id, { name: 'second', metrics: { accuracy: [0.125] } });
  await expect.poll(() => rowOf('second').count()).toBe(1);

  expect(service.faults).toEqual([]);
  await page.context().close();
});

test('the curves of fifty running experiments grow by one request for all of them', async () => {
  const many = await newProject(service.client, 'many live');
  const ids: string[] = [];
  for (let run = 0; run < 50; run += 1)
    ids.push(
      await recordRun(service.client, many, { name: `run ${run}`, metrics: { accuracy: [0.1, 0.2] } }),
    );
  const page = await service.enter();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  const isRead = (url: string) => /\/experiments\/\w{26}\/metrics\?limit=10000/.test(url);
  await visit(page, `projects/${many}`);
  await page.locator('.row.body').first().waitFor();
  await page.keyboard.press('a');
  await page.keyboard.press('v');
  await page.locator('.plot canvas').first().waitFor();
  /** What the chart says of the ends of its first ten lines. */
  const ends = async () => {
    const label = await page.locator('.plot').first().getAttribute('aria-label');
    return [...(label ?? '').matchAll(/ends at ([\d.]+\d)/g)].map(([, end]) => end);
  };
  await expect.poll(ends).toEqual(Array.from({ length: 10 }, () => '0.2'));
  // All are read, and then followed, before they grow.
  let known = -1;
  const isQuiet = () => {
    const { length } = asked.filter(isRead);
    const wasKnown = length === known && length >= 50;
    known = length;
    return wasKnown;
  };
  await expect.poll(isQuiet, { interval: 3_000 }).toBe(true);
  asked.length = 0;

  for (const step of [2, 3])
    await Promise.all(
      ids.map((experiment_id) =>
        service.client.call<typeof logMetrics>(
          'POST /projects/{project_id}/experiments/{experiment_id}/metrics',
          {
            path: { project_id: many, experiment_id },
            body: { metrics: [{ name: 'accuracy', value: step / 10 + 0.5, step }] },
          },
        ),
      ),
    );
  await expect.poll(async () => new Set(await ends())).toEqual(new Set(['0.8']));

  const points = asked.filter((url) => url.includes('points='));
  expect(asked.filter(isRead)).toEqual([]);
  // Each of them waits for 1.7 s at least, for all of the fifty.
  expect(points.length).toBeGreaterThan(0);
  expect(points.length).toBeLessThan(20);
  await endRun(service.client, { project_id: many, experiment_id: ids[0] ?? '' }, 'SUCCEEDED');
  await expect.poll(() => asked.some((url) => isRead(url) && url.includes(`/${ids[0]}/`))).toBe(true);
  expect(new Set(await ends())).toEqual(new Set(['0.8']));
  expect(service.faults).toEqual([]);
  await page.context().close();
});
