import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { suggest } from '../../../shared/sweeps/suggest.ts';
import { type LocalService, startLocalService } from '../../support/local-service.ts';
import { seededRandom } from '../../support/seeded-random.ts';

/*
 * A sweep of real trainings while the service is killed (SIGKILL) every few seconds: now its gateway with everything
 * below it, now one of its engines. At the end there is exactly one experiment for each trial, never more ran at once
 * than may, and each trial has the values of an undisturbed sweep.
 */
const { values: flags } = parseArgs({
  options: {
    trials: { type: 'string', default: '200' },
    parallel: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '20' },
    seed: { type: 'string', default: '43' },
    help: { type: 'boolean', default: false },
  },
});
if (flags.help) {
  console.log(
    'Usage: npm run proof -- sweeps [--trials 200] [--parallel 4] [--seconds 20 between kills] [--seed 43]',
  );
  process.exit(0);
}

const [trials, parallel, seconds] = [flags.trials, flags.parallel, flags.seconds].map(Number) as [
  number,
  number,
  number,
];
const random = seededRandom(Number(flags.seed));
const password = 'a long enough password';
const parameters = { lr: { min: 0.001, max: 1, scale: 'log' as const } };

interface Trial {
  trial: number;
  experiment_id: string;
  params: object;
  outcome: string | null;
}

const folder = await mkdtemp(join(tmpdir(), 'mps-sweeps-'));
await chmod(folder, 0o711);
let service = await start();
let headers = await signIn();
const kills = { service: 0, engine: 0 };

try {
  const project = await begin();
  const sweep = await call<{ sweep_id: string }>('POST', `/projects/${project}/sweeps`, {
    config: 'train.yaml',
    metric: 'loss',
    method: 'random',
    trials,
    parallel,
    parameters,
  });
  const most = await follow(project, sweep.sweep_id);
  const found = await call<Trial[]>('GET', `/projects/${project}/sweeps/${sweep.sweep_id}/trials`);
  const experiments = await call<{ trial: number | null }[]>('GET', `/projects/${project}/experiments`);
  const faults = [
    ...(experiments.length === trials ? [] : [`${experiments.length} experiments`]),
    ...(new Set(experiments.map(({ trial }) => trial)).size === trials ? [] : ['a trial was begun twice']),
    ...(most <= parallel ? [] : [`${most} ran at once`]),
    ...found
      .filter(({ trial, params }) => !isDeepStrictEqual(params, valuesOf(trial)))
      .map(({ trial }) => `trial ${trial} has other values`),
  ];
  const outcomes = Object.groupBy(found, ({ outcome }) => outcome ?? 'running');
  const told = Object.entries(outcomes).map(([outcome, some]) => `${some?.length} ${outcome}`);
  console.log(
    `${experiments.length} experiments of ${trials} trials (${told.join(', ')}), at most ${most} at once; killed the service ${kills.service} times and an engine ${kills.engine} times`,
  );
  if (faults.length > 0) throw new Error(faults.join('; '));
} finally {
  await service.end('SIGKILL').catch(() => undefined);
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function start(): Promise<LocalService> {
  const started = await startLocalService(['--data', join(folder, 'data')], { ADMIN_PASSWORD: password });
  if (!('url' in started)) throw new Error(started.output);
  return started;
}

async function signIn(): Promise<Record<string, string>> {
  const body = new URLSearchParams({ grant_type: 'password', username: 'admin', password });
  const answer = await fetch(`${service.url}/auth/token`, { method: 'POST', body });
  const { access_token } = (await answer.json()) as { access_token: string };
  return { Authorization: `Bearer ${access_token}` };
}

/** Sends a request, again after each kill. */
async function call<T>(method: string, path: string, body?: object | string): Promise<T> {
  for (;;) {
    try {
      const answer = await fetch(`${service.url}${path}`, {
        method,
        headers: { ...headers, ...(typeof body === 'object' && { 'Content-Type': 'application/json' }) },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      if (answer.status < 500) {
        const text = await answer.text();
        if (!answer.ok) throw new RefusedError(`${method} ${path}: ${answer.status} ${text}`);
        return JSON.parse(text) as T;
      }
    } catch (error) {
      if (error instanceof RefusedError) throw error;
    }
    await sleep(200);
  }
}

class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

async function begin(): Promise<string> {
  const query = 'project-name=p&project-description=d&project-type=t&project-task=regression';
  const { project_id } = await call<{ project_id: string }>('POST', `/projects/?${query}`);
  await call('PUT', `/projects/${project_id}/configs/train.yaml`, 'lr: 1\n');
  const command = `sh -c 'echo "{\\"loss\\": 1, \\"step\\": 1}" >> "$METRICS_FILE"'`;
  const environment = new URLSearchParams({
    env_type: 'system',
    dependencies: 'none',
    entry_point_command: command,
  });
  await call('PUT', `/projects/${project_id}/environment?${environment}`);
  return project_id;
}

/** Follows the sweep to its end and kills meanwhile. Returns how many experiments ran at once at most. */
async function follow(project: string, sweep_id: string): Promise<number> {
  let most = 0;
  let killedAt = performance.now();
  for (;;) {
    const { status, counts } = await call<{
      status: string;
      counts: { running: number; begun: number };
    }>('GET', `/projects/${project}/sweeps/${sweep_id}`);
    const listed = await call<{ status: string }[]>('GET', `/projects/${project}/experiments?limit=50`);
    const unfinished = listed.filter((one) => !['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(one.status));
    most = Math.max(most, counts.running, unfinished.length);
    if (!['RUNNING', 'PAUSED'].includes(status) && counts.running === 0) return most;
    if (performance.now() - killedAt > seconds * 1000 * (0.5 + random())) {
      await kill();
      killedAt = performance.now();
      console.log(`${counts.begun} of ${trials} trials begun`);
    }
    await sleep(500);
  }
}

/** Kills the service or one of its engines, and starts it again. */
async function kill(): Promise<void> {
  const engines: { pid: number }[] = JSON.parse(await readFile(join(folder, 'data/engines.json'), 'utf8'));
  const engine = engines[Math.floor(random() * engines.length)];
  if (engine !== undefined && random() < 0.5) {
    kills.engine += 1;
    process.kill(engine.pid, 'SIGKILL');
    await Promise.race([service.ended, sleep(5000)]);
  } else kills.service += 1;
  await service.end('SIGKILL');
  service = await start();
  headers = await signIn();
}

/** The values of a trial in an undisturbed sweep. */
function valuesOf(trial: number): object {
  return suggest({ method: 'random', seed: 0, parameters, start: [], goal: 'minimize' }, trial, []);
}
