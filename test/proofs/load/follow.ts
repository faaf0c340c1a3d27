import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { endpoint as createToken } from '../../../functions/auth/create-token.endpoint.ts';
import type { endpoint as readLive } from '../../../functions/experiments/live/read-live-experiment.endpoint.ts';
import type { endpoint as logMetrics } from '../../../functions/experiments/metrics/log-metrics.endpoint.ts';
import type { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import type { endpoint as updateExperiment } from '../../../functions/experiments/records/update-experiment.endpoint.ts';
import type { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import { readFlags } from '../../../infra/command/read-flags.ts';
import { runMain } from '../../../infra/command/run-main.ts';
import { Client } from '../../../shared/client/client.ts';
import { followLive } from '../../../shared/client/follow-live.ts';
import { type LocalService, startLocalService } from '../../support/local-service.ts';

/*
 * A client logs a metric every two seconds. Two follow its run, one as `mps logs -f` does and one as the console does, while
 * the service is killed (SIGKILL) and starts again. Each point arrives once and in order, the first follower asks at most 0.3
 * times a second, and the second has each point at most 2 s after its request was answered.
 */
const usage = `Usage: npm run proof -- follow
  follows a run while the service is killed: how often a follower asks, and how late each point arrives (three minutes)`;

const points = 40;
const secondsBetween = 2;
/** Numbers of the points after which the service is killed. */
const killedAfter = [10, 20, 30];
const password = 'a long enough password';

let folder: string;
let service: LocalService;
let client: Client;
let token: string;

async function main(): Promise<number> {
  readFlags(usage, {});
  folder = await mkdtemp(join(tmpdir(), 'mps-follow-'));
  service = await start();
  client = new Client({ url: service.url });
  const signedIn = await client.call<typeof createToken>('POST /auth/token', {
    body: { grant_type: 'password', username: 'admin', password },
  });
  token = signedIn.access_token;
  client = clientOf();
  try {
    const { project_id } = await client.call<typeof createProject>('POST /projects/', {
      query: {
        'project-name': 'followed',
        'project-description': 'It is followed.',
        'project-type': 'proof',
        'project-task': 'sorting',
      },
    });
    const { experiment_id } = await client.call<typeof createExperiment>(
      'POST /projects/{project_id}/experiments',
      { path: { project_id }, body: {} },
    );
    const path = { project_id, experiment_id };
    const following = [follow(path, 'log'), follow(path, 'points')];
    const stored = await log(path);
    await client.call<typeof updateExperiment>('PATCH /projects/{project_id}/experiments/{experiment_id}', {
      path,
      body: { status: 'SUCCEEDED' },
    });
    const [terminal, page] = await Promise.all(following);
    if (terminal === undefined || page === undefined) throw new TypeError('nobody follows');
    const expected = Array.from({ length: points }, (_, step) => step);
    const isWhole = JSON.stringify(page.steps.map(({ step }) => step)) === JSON.stringify(expected);
    const delays = page.steps.flatMap(({ step, at }) => {
      const { at: since, isUndisturbed } = stored[step] ?? { at: at, isUndisturbed: false };
      return isUndisturbed ? [(at - since) / 1000] : [];
    });
    const slowest = Math.max(...delays);
    console.log(`${killedAfter.length} kills: ${isWhole ? 'every point once, in order' : 'POINTS ARE LOST'}`);
    console.log(`mps logs -f: ${terminal.rate.toFixed(2)} requests a second (at most 0.30)`);
    console.log(`the page of a run: ${page.rate.toFixed(2)} requests a second`);
    console.log(
      `a point arrives ${slowest.toFixed(2)} s after it was stored, at most (of ${delays.length}; at most 2.00)`,
    );
    return isWhole && terminal.rate <= 0.3 && slowest <= 2 ? 0 : 1;
  } finally {
    await service.end('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  }
}

interface Run {
  project_id: string;
  experiment_id: string;
}

/** Log the points, and kill the service after some of them. Return when each was acknowledged. */
async function log(path: Run): Promise<{ at: number; isUndisturbed: boolean }[]> {
  const stored: { at: number; isUndisturbed: boolean }[] = [];
  for (let step = 0; step < points; step += 1) {
    await client.call<typeof logMetrics>('POST /projects/{project_id}/experiments/{experiment_id}/metrics', {
      path,
      body: { metrics: [{ name: 'loss', value: 1 / (step + 1), step }] },
    });
    // Its follower is away while the service is.
    const isUndisturbed = !killedAfter.some((killed) => step >= killed && step <= killed + 1);
    stored.push({ at: performance.now(), isUndisturbed });
    if (killedAfter.includes(step)) {
      await service.end('SIGKILL');
      service = await start();
      client = clientOf();
    }
    await sleep(secondsBetween * 1000);
  }
  return stored;
}

/** Follow a run to its end. Return when each point arrived, and the requests a second that the service answered. */
async function follow(path: Run, part: 'log' | 'points') {
  const begun = performance.now();
  let answered = 0;
  const steps: { step: number; at: number }[] = [];
  const ask = (after: string | undefined) =>
    client.call<typeof readLive>('GET /projects/{project_id}/experiments/{experiment_id}/live', {
      path,
      query: { parts: [part], ...(after !== undefined && { after }) },
    });
  for await (const live of followLive(ask)) {
    answered += 1;
    const at = performance.now();
    steps.push(...live.points.map(({ step }) => ({ step: Number(step), at })));
  }
  return { steps, rate: (answered * 1000) / (performance.now() - begun) };
}

async function start(): Promise<LocalService> {
  const started = await startLocalService(['--data', folder], {
    ADMIN_PASSWORD: password,
    LOG_LEVEL: 'error',
  });
  if (!('url' in started)) throw new Error(started.output);
  return started;
}

function clientOf(): Client {
  return new Client({ url: service.url, token, retries: { attempts: 1, seconds: 0 } });
}

await runMain(main);
