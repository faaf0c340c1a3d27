// What a sweep of 1,000 trials costs others: `npm run proof -- sweep-latency`. About seven minutes.
import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endpoint as readProject } from '../../../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as createSweep } from '../../../../functions/projects/sweeps/create-sweep.endpoint.ts';
import { endpoint as listTrials } from '../../../../functions/projects/sweeps/list-trials.endpoint.ts';
import { endpoint as readSweep } from '../../../../functions/projects/sweeps/read-sweep.endpoint.ts';
import { readFlags } from '../../../../infra/command/read-flags.ts';
import { runMain } from '../../../../infra/command/run-main.ts';
import { endpointEnvironment } from '../../../../infra/local/access/local-roles.ts';
import { makeProxyEvent } from '../../../../infra/local/gateway/make-proxy-event.ts';
import { encodedPath, routeOf } from '../../../../infra/service/routes.ts';
import type { AnyEndpoint } from '../../../../shared/http/definition/middleware.ts';
import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { type Figure, figure, median, percentile } from '../../bench/figure.ts';
import { renderTable, summary } from '../../bench/figure-table.ts';
import { must } from '../../faults/world/ask.ts';
import { credentials, startStores } from '../../faults/world/engines.ts';
import { newProject } from '../../faults/world/project.ts';
import { newDeveloper, newService } from '../../faults/world/service.ts';
import type { Deciding } from './decider.program.ts';

const usage = `Usage: npm run proof -- sweep-latency [-- --trials 1000] [--rate 5]
  measures GET of a project in turns: while a sweep of another decides, and while it rests; then the trials of its page
  --rate  decisions of the sweep in a second`;

const windowMilliseconds = 2000;

async function proveLatency(): Promise<number> {
  const { values } = readFlags(usage, {
    options: { trials: { type: 'string', default: '1000' }, rate: { type: 'string', default: '5' } },
  });
  const folder = await mkdtemp(join(tmpdir(), 'mps-latency-'));
  const begun = performance.now();
  try {
    await using started = new AsyncDisposableStack();
    const figures = await measure(folder, started, Number(values.trials), Number(values.rate));
    const seconds = (performance.now() - begun) / 1000;
    const table = [{ name: 'latency', title: 'A sweep and others', figures, failure: undefined, seconds }];
    console.log(renderTable(table));
    console.log(summary(table));
    return figures.every(({ bound }) => bound?.isMet !== false) ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(
  folder: string,
  started: AsyncDisposableStack,
  trials: number,
  rate: number,
): Promise<Figure[]> {
  const service = await newService(await startStores(started, folder), 'http://127.0.0.1:9');
  const { environment } = service;
  const { token } = await newDeveloper(service);
  const other = await newProject(service, token, 'true');
  const project_id = await newProject(service, token, 'true');
  const { sweep_id } = await must(createSweep, environment, {
    path: { project_id },
    token,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      config: 'train.yaml',
      metric: 'loss',
      method: 'tpe',
      trials,
      parallel: 4,
      parameters: { epochs: { min: 1, max: 1000, step: 1 } },
    }),
  });
  const path = { project_id, sweep_id };
  const ask = (endpoint: AnyEndpoint, of: Readonly<Record<string, string>>, query = '') =>
    timed(endpoint, environment, { path: of, query, token });
  const project = ask(readProject, { project_id: other });
  const windows = await inTurns({ environment, sweep: path, rate }, project);
  const ratios = (rank: number) =>
    windows.map(({ busy, quiet }) => percentile(busy, rank) / percentile(quiet, rank));
  const quiet = windows.flatMap((window) => window.quiet);
  const page = await repeated(ask(listTrials, path, 'limit=60'));
  const sweep = await repeated(ask(readSweep, path));
  return [
    figure('GET of a project while another decides, p50', median(ratios(0.5)), '×', {
      atMost: 1.1,
      remark: `of ${rounded(percentile(quiet, 0.5))} ms; ${windows.length} pairs of windows`,
    }),
    figure('GET of a project while another decides, p95', median(ratios(0.95)), '×'),
    figure(`GET of the sweep, ${trials} trials, p95`, percentile(sweep, 0.95), 'ms'),
    figure('GET of its first 60 trials, p95', percentile(page, 0.95), 'ms', { atMost: 1000 }),
  ];
}

const rounded = (milliseconds: number): number => Math.round(milliseconds * 100) / 100;

/** Return a request that measures how many milliseconds it took. */
function timed(
  endpoint: AnyEndpoint,
  environment: Record<string, string>,
  { path, query, token }: { path: Readonly<Record<string, string>>; query: string; token: string },
): () => Promise<number> {
  const handler = lambda(endpoint, endpointEnvironment(endpoint, environment, credentials));
  const encoded = encodedPath(endpoint, path);
  const event = makeProxyEvent(
    {
      method: 'GET',
      path: encoded.path,
      query,
      headers: [['Authorization', `Bearer ${token}`]],
      body: Buffer.alloc(0),
      sourceIp: '127.0.0.1',
    },
    routeOf(endpoint).resource,
    encoded.parameters,
  );
  return async () => {
    const begun = performance.now();
    // biome-ignore lint/suspicious/noExplicitAny: no function reads its Lambda context
    const { statusCode, body } = await handler(event, {} as any);
    if (statusCode !== 200) throw new Error(`${endpoint.name}: ${statusCode} ${body}`);
    return performance.now() - begun;
  };
}

const repeated = async (request: () => Promise<number>): Promise<number[]> => {
  const all: number[] = [];
  for (let count = 0; count < 50; count += 1) all.push(await request());
  return all.slice(5);
};

/** Measure a request in turns, while the sweep decides and while it rests, until the sweep has ended. */
async function inTurns(
  deciding: Deciding,
  request: () => Promise<number>,
): Promise<{ busy: number[]; quiet: number[] }[]> {
  const decider = fork(join(import.meta.dirname, 'decider.program.ts'), [JSON.stringify(deciding)]);
  let hasEnded = false;
  decider.once('message', () => {
    hasEnded = true;
  });
  decider.once('exit', (code) => {
    if (!hasEnded) throw new Error(`the process that decides ended with ${code}`);
  });
  const inWindow = async (order: 'go' | 'rest'): Promise<number[]> => {
    decider.send(order);
    await sleep(250);
    const all: number[] = [];
    const until = performance.now() + windowMilliseconds;
    while (performance.now() < until && !hasEnded) {
      all.push(await request());
      await sleep(5);
    }
    return all;
  };
  const windows: { busy: number[]; quiet: number[] }[] = [];
  for (;;) {
    const quiet = await inWindow('rest');
    const busy = await inWindow('go');
    if (hasEnded) return windows;
    windows.push({ busy, quiet });
  }
}

await runMain(proveLatency);
