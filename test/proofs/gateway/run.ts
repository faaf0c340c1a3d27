// The work of every request on the gateway's thread: `npm run proof -- gateway`. Linux, and not for a busy machine.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandError } from '../../../infra/command/command-error.ts';
import { readFlags } from '../../../infra/command/read-flags.ts';
import { runMain } from '../../../infra/command/run-main.ts';
import { drawnRequests } from './drawn-requests.ts';
import { HealthWatch, threadAtRest, threadMilliseconds } from './thread-time.ts';
import { fillWorld, type World } from './world.ts';
import { type Tried, worstRequests } from './worst-requests.ts';

const usage = `Usage: npm run proof -- gateway [--runs <number>] [--only <operation>] [--worst]
  --runs   of the project that is searched (100000)
  --only   requests to this operation alone
  --worst  the requests that are made hard by hand alone, without the drawn ones`;

/** Bounds of one request: milliseconds of the thread, and of /health meanwhile. */
const maxThread = 1000;
const maxHealth = 250;
const shown = 20;

interface Measured extends Tried {
  status: number;
  thread: number;
  health: number;
}

async function measure(world: World, pid: number, health: HealthWatch, one: Tried): Promise<Measured> {
  const before = await threadMilliseconds(pid);
  let status = 0;
  const longest = await health.during(async () => {
    const reply = await world.sender.send({ ...one, headers: { ...world.headers, ...one.headers } });
    status = reply.status;
  });
  // A reading request leaves no work behind, or one that the next request shows.
  if (one.method !== 'GET') await threadAtRest(pid);
  return { ...one, status, thread: (await threadMilliseconds(pid)) - before, health: longest };
}

function table(measured: readonly Measured[]): string {
  const rows = measured.map(({ operation, what, status, thread, health }) =>
    [operation, status, Math.round(thread), Math.round(health), what.slice(0, 90)].join(' | '),
  );
  return ['operation | status | thread ms | health ms | request', ...rows].join('\n');
}

/** Ends with 0 just where both bounds were met by all. */
async function main(): Promise<number> {
  const { values } = readFlags(usage, {
    options: {
      runs: { type: 'string', default: '100000' },
      only: { type: 'string' },
      worst: { type: 'boolean', default: false },
    },
  });
  const runs = Number(values.runs);
  if (!Number.isInteger(runs) || runs < 1) throw new CommandError(usage);
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const folder = await mkdtemp(join(tmpdir(), 'mps-gateway-'));
  await using started = new AsyncDisposableStack();
  started.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  const world = await fillWorld(folder, { runs, wideRuns: 200, points: 200_000 }, started, say);
  const { pid } = JSON.parse(await readFile(join(folder, 'service.json'), 'utf8'));
  const health = new HealthWatch(world.service.url);
  started.defer(() => health.close());

  const variables = {
    project_id: world.wide,
    experiment_id: world.wideRuns[0] ?? '',
    sweep_id: world.sweep,
    username: 'ada',
    user_id: world.user_id,
    config_id: 'small.yaml',
  };
  const all = [...worstRequests(world), ...(values.worst ? [] : drawnRequests(variables))].filter(
    ({ operation }) => values.only === undefined || operation === values.only,
  );
  say(`${all.length} requests`);
  const measured: Measured[] = [];
  // A run that is broken off prints what it has measured.
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  for (const one of all) {
    if (stop.signal.aborted) break;
    measured.push(await measure(world, pid, health, one));
    if (measured.length % 100 === 0) say(`${measured.length} requests`);
  }
  const by = (key: 'thread' | 'health') =>
    measured.toSorted((one, other) => other[key] - one[key]).slice(0, shown);
  const failed = measured.filter(({ status }) => status === 0 || status >= 500);
  const beyond = measured.filter(({ thread, health: waited }) => thread > maxThread || waited > maxHealth);
  const place = `Node ${process.version}, ${availableParallelism()} CPUs, load ${loadavg()[0]?.toFixed(1)}`;
  process.stdout.write(
    `\n${place}, ${measured.length} requests\n\nMost work on the thread\n${table(by('thread'))}\n\nLongest /health\n${table(by('health'))}\n`,
  );
  process.stdout.write(`\nAnswers of 5xx: ${failed.length}\n${table(failed.slice(0, shown))}\n`);
  process.stdout.write(
    `\nBeyond a bound (${maxThread} ms of the thread, ${maxHealth} ms of /health): ${beyond.length}\n`,
  );
  return failed.length + beyond.length > 0 ? 1 : 0;
}

await runMain(main);
