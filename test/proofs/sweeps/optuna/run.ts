import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs, promisify } from 'node:util';
import { type LocalService, startLocalService } from '../../../support/local-service.ts';

/*
 * Optuna, the package of PyPI, drives a sweep by its method `external`: it asks for the values of each trial and is
 * told what the sweep found. At the end the sweep has exactly Optuna's trials, and both name the same best one.
 */
const { values: flags } = parseArgs({
  options: {
    trials: { type: 'string', default: '12' },
    parallel: { type: 'string', default: '2' },
    python: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (flags.help) {
  console.log(
    'Usage: npm run proof -- sweep-optuna [--trials 12] [--parallel 2] [--python <with optuna 5.0.0>]',
  );
  process.exit(0);
}

const run = promisify(execFile);
const password = 'a long enough password';

interface Answer {
  sweep: { status: string; counts: Record<string, number>; best: { params: object; value: number } };
  trials: { params: object; outcome: string }[];
  /** Values that Optuna chose, in its order. */
  told: object[];
  best: object;
}

const folder = await mkdtemp(join(tmpdir(), 'mps-optuna-'));
await chmod(folder, 0o711);
const started = await startLocalService(['--data', join(folder, 'data')], { ADMIN_PASSWORD: password });
if (!('url' in started)) throw new Error(started.output);
const service: LocalService = started;

try {
  const token = await signIn();
  const project_id = await begin(token);
  const python = flags.python ?? (await newPython(join(folder, 'python')));
  const environment = {
    URL: service.url,
    TOKEN: token,
    PROJECT: project_id,
    TRIALS: flags.trials,
    PARALLEL: flags.parallel,
  };
  const script = join(import.meta.dirname, 'drive-optuna.py');
  const { stdout } = await run(python, [script], { env: environment, maxBuffer: 10_000_000 });
  const { sweep, trials, told, best }: Answer = JSON.parse(stdout);
  const asked = new Set(told.map((params) => JSON.stringify(params)));
  const faults = [
    ...(trials.length === Number(flags.trials) ? [] : [`${trials.length} trials`]),
    ...(sweep.status === 'COMPLETED' ? [] : [`the sweep is ${sweep.status}`]),
    ...(trials.every(({ outcome }) => outcome === 'complete') ? [] : ['not every trial is complete']),
    ...(trials.every(({ params }) => asked.has(JSON.stringify(params)))
      ? []
      : ['values that Optuna did not ask for']),
    ...(isDeepStrictEqual(sweep.best.params, best) ? [] : ['another best trial than Optuna has']),
  ];
  console.log(
    `${trials.length} trials asked for by Optuna; the sweep is ${sweep.status}; best ${sweep.best.value} at ${JSON.stringify(best)}`,
  );
  if (faults.length > 0) throw new Error(faults.join('; '));
} finally {
  await service.end('SIGTERM').catch(() => undefined);
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function signIn(): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'password', username: 'admin', password });
  const answer = await fetch(`${service.url}/auth/token`, { method: 'POST', body });
  const { access_token } = (await answer.json()) as { access_token: string };
  return access_token;
}

/** Makes a project whose training reports `(log10(lr) + 1)²`. */
async function begin(token: string): Promise<string> {
  const call = async (method: string, path: string, body?: string): Promise<{ project_id: string }> => {
    const headers = { Authorization: `Bearer ${token}` };
    const answer = await fetch(`${service.url}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { project_id: string };
  };
  const query = 'project-name=p&project-description=d&project-type=t&project-task=regression';
  const { project_id } = await call('POST', `/projects/?${query}`);
  await call('PUT', `/projects/${project_id}/configs/train.yaml`, 'lr: 1\n');
  const program =
    'import json, math, os; lr = float(open(os.environ["CONFIG_PATH"]).read().split(":")[1]); ' +
    'print(json.dumps({"loss": (math.log10(lr) + 1) ** 2, "step": 1}), file=open(os.environ["METRICS_FILE"], "a"))';
  const environment = new URLSearchParams({
    env_type: 'system',
    dependencies: 'none',
    entry_point_command: `python3 -c '${program}'`,
  });
  await call('PUT', `/projects/${project_id}/environment?${environment}`);
  return project_id;
}

async function newPython(into: string): Promise<string> {
  await run('python3', ['-m', 'venv', into]);
  await run(join(into, 'bin/pip'), ['install', '--quiet', 'optuna==5.0.0']);
  return join(into, 'bin/python');
}
