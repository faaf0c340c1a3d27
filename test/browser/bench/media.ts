import type { Page } from 'playwright-core';
import type { endpoint as listMedia } from '../../../functions/experiments/artifacts/list-media.endpoint.ts';
import type { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import type { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import type { Client } from '../../../shared/client/client.ts';
import { visit } from '../console-service.ts';
import { pictureOf } from '../media-files.ts';
import { recordFiles } from '../record-files.ts';
import { endRun } from '../record-run.ts';
import { type Figure, median } from './figure.ts';

const keys = 8;

/** How many pictures the part has. */
export interface Pictures {
  runs: number;
  steps: number;
}

/** Ended experiments with pictures of some keys at each step; the files that an earlier call has recorded are taken. */
export async function recordMedia(
  client: Client,
  project_id: string,
  { runs, steps }: Pictures,
): Promise<string[]> {
  const present = await client.call<typeof listExperiments>('GET /projects/{project_id}/experiments', {
    path: { project_id },
    query: { limit: 100, fields: 'experiment_id,name,status' },
  });
  const ids: string[] = [];
  for (let run = 0; run < runs; run += 1) {
    const name = `pictures-${run}-of-${steps}`;
    const found = present.find((one) => one.name === name);
    const experiment_id = found?.experiment_id ?? (await createRun(client, project_id, name));
    ids.push(experiment_id);
    if (found?.status === 'SUCCEEDED') continue;
    const path = { project_id, experiment_id };
    const known = await pathsOf(client, path);
    const files: Record<string, Awaited<ReturnType<typeof pictureOf>>> = {};
    for (let step = 0; step < steps; step += 1)
      for (let key = 0; key < keys; key += 1) {
        const file = `samples_${key}/epoch_${step}.png`;
        if (!known.has(file)) files[file] = await pictureOf(step + key * 7 + run * 3);
      }
    await recordFiles(client, path, files);
    await endRun(client, path, 'SUCCEEDED');
    if ((run + 1) % 10 === 0) console.log(`recorded the pictures of ${run + 1} experiments`);
  }
  return ids;
}

const createRun = async (client: Client, project_id: string, name: string): Promise<string> =>
  (
    await client.call<typeof createExperiment>('POST /projects/{project_id}/experiments', {
      path: { project_id },
      body: { name },
    })
  ).experiment_id;

async function pathsOf(
  client: Client,
  { project_id, experiment_id }: { project_id: string; experiment_id: string },
): Promise<Set<string>> {
  const { experiments } = await client.call<typeof listMedia>('GET /projects/{project_id}/media', {
    path: { project_id },
    query: { experiments: experiment_id },
  });
  return new Set(
    experiments.flatMap(({ series }) => series.flatMap(({ items }) => items.map(({ path }) => path))),
  );
}

/** Pictures side by side: the first screen after the click, and what the slider costs over all steps. */
export async function measureMedia(
  page: Page,
  project_id: string,
  ids: readonly string[],
): Promise<Figure[]> {
  const at = `projects/${project_id}/compare?experiments=${ids.join()}`;
  await visit(page, at);
  await page.getByRole('link', { name: 'Media' }).waitFor();
  await page.waitForLoadState('networkidle');
  const requests: number[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/artifacts/read')) requests.push(performance.now());
  });
  const click = performance.now();
  await page.getByRole('link', { name: 'Media' }).click();
  await page.waitForFunction(() => {
    const tiles = [...document.querySelectorAll('.media-tile')].filter((tile) => {
      const { top, bottom, height } = tile.getBoundingClientRect();
      return height > 0 && bottom > 0 && top < innerHeight;
    });
    return tiles.length > 0 && tiles.every((tile) => tile.querySelector('img:not(.waiting)') !== null);
  });
  const first = (performance.now() - click) / 1000;
  const slider = page.getByRole('slider', { name: 'Step', exact: true });
  await slider.waitFor();
  const { rates, seconds } = await slider.evaluate(async (element) => {
    const input = element as HTMLInputElement;
    const most = Number(input.max);
    const found: number[] = [];
    const begun = performance.now();
    let last = begun;
    // There and back, a step each frame, as fast as a hand can slide.
    for (let frame = 0; frame < 4 * most; frame += 1) {
      const phase = frame % (2 * most);
      input.value = String(phase < most ? phase : 2 * most - phase);
      input.dispatchEvent(new Event('input', { bubbles: true }));
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      found.push(1000 / (now - last));
      last = now;
    }
    return { rates: found, seconds: (last - begun) / 1000 };
  });
  const gaps = requests.slice(1).map((time, index) => time - (requests[index] ?? 0));
  const rate = gaps.length === 0 ? 0 : 1000 / Math.min(...gaps);
  return [
    { what: `first screen of the pictures of ${ids.length} experiments`, value: first, unit: 's', bound: 1 },
    { what: 'requests for pictures, by their least distance', value: rate, unit: '/s', bound: 2.05 },
    {
      what: 'frames a second while sliding, median',
      value: median(rates),
      unit: '/s',
      bound: 55,
      isLeast: true,
    },
    { what: '  seconds of sliding', value: seconds, unit: 's' },
  ];
}
