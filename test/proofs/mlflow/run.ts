import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandError } from '../../../infra/command/command-error.ts';
import { readFlags } from '../../../infra/command/read-flags.ts';
import { runMain } from '../../../infra/command/run-main.ts';
import { startLocalService } from '../../support/local-service.ts';
import { tellJobStory } from './job-story.ts';

// `npm run proof -- mlflow`: real MLflow clients of PyPI, unmodified, record, search and read in a service that runs here.

const usage = `Usage: npm run proof -- mlflow [-- --size <bytes>] [-- --story] [-- --suite <folder> [--stores]]
  lets MLflow clients of PyPI do what people do with them
  --size   bytes of the largest artifact; default 100000000
  --story  nothing but the same script by hand and as a job
  --suite  a checkout of MLflow, of which its own tests are run against this service instead
  --stores of these the tests of its stores, of which many fail`;

const here = import.meta.dirname;
const password = 'a long sentence nobody guesses';
const common = [
  'scikit-learn==1.7.2',
  'pandas==2.3.3',
  'matplotlib==3.10.7',
  'lightgbm==4.6.0',
  'xgboost==3.1.2',
  'optuna==4.6.0',
  'optuna-integration==4.6.0',
  'psutil==7.1.3',
];
/** The newest client, and the last one before logged models. */
const clients = [
  ['mlflow-skinny==3.17.2', ...common],
  ['mlflow-skinny==2.22.0', ...common],
];
const suiteFiles = [
  'tracking/test_rest_tracking.py',
  'tracking/test_model_registry.py',
  'tracking/test_mlflow_artifacts.py',
];
/** Tests of MLflow's stores, to which the client's is given instead. */
const storeFiles = [
  'store/tracking/test_sqlalchemy_store.py',
  'store/model_registry/test_sqlalchemy_store.py',
];

/** Run a program whose output is shown. @throws CommandError where it fails */
async function run(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  cwd?: string,
) {
  const child = spawn(program, args, { env, stdio: 'inherit', ...(cwd !== undefined && { cwd }) });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new CommandError(`${program} ${args[0] ?? ''} failed.`);
}

async function python(folder: string, packages: readonly string[]): Promise<string> {
  await run('python3', ['-m', 'venv', folder]);
  await run(join(folder, 'bin/pip'), ['install', '--quiet', ...packages]);
  return join(folder, 'bin/python');
}

async function tokenOf(url: string): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'password', username: 'admin', password });
  const answer = await fetch(`${url}/auth/token`, { method: 'POST', body });
  if (!answer.ok) throw new CommandError(`Sign-in failed with ${answer.status}.`);
  const { access_token } = (await answer.json()) as { access_token: string };
  return access_token;
}

/** Without what this machine's user has set for clients of their own. */
const ownEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('MLFLOW_')));

async function useClients(folder: string, size: string, storyAlone: boolean): Promise<void> {
  for (const [index, packages] of clients.entries()) {
    const program = await python(join(folder, `venv${index}`), packages);
    const settings = { ADMIN_PASSWORD: password };
    const service = await startLocalService(['--data', join(folder, `data${index}`)], settings);
    if (!('url' in service)) throw new CommandError(service.output);
    try {
      const env = {
        ...ownEnvironment(),
        MLFLOW_TRACKING_URI: `${service.url}/mlflow`,
        // Each way of signing in is one client's.
        ...(index === 0
          ? { MLFLOW_TRACKING_TOKEN: await tokenOf(service.url) }
          : { MLFLOW_TRACKING_USERNAME: 'admin', MLFLOW_TRACKING_PASSWORD: password }),
      };
      if (!storyAlone) await run(program, [join(here, 'client.py'), '1000000', size], env);
      const server = { url: service.url, token: await tokenOf(service.url) };
      const story = join(folder, `story${index}`);
      await tellJobStory(story, packages, server, (script) => run(program, [script], env));
    } finally {
      await service.end('SIGTERM');
    }
  }
}

/** MLflow's own tests, by the client of PyPI; `expectations.toml` lists those that do not pass. */
async function runSuite(folder: string, suite: string, files: readonly string[]): Promise<void> {
  const program = await python(join(folder, 'venv'), [
    'mlflow==3.17.2',
    'pytest==8.4.2',
    'pytest-timeout==2.4.0',
    'pytest-asyncio==1.2.0',
  ]);
  const service = await startLocalService(['--data', join(folder, 'data')], {
    ADMIN_PASSWORD: password,
    LIMIT_REQUESTS_PER_SECOND: '1000',
    LIMIT_REQUEST_BURST: '1000',
  });
  if (!('url' in service)) throw new CommandError(service.output);
  // Away from the client beside them, which Python would take.
  const alone = join(folder, 'suite');
  await cp(join(suite, 'tests'), join(alone, 'tests'), { recursive: true });
  try {
    const env = {
      ...ownEnvironment(),
      MLFLOW_SUITE_SERVICE: service.url,
      MLFLOW_SUITE_ADMIN_TOKEN: await tokenOf(service.url),
      PYTHONPATH: `${alone}:${here}`,
    };
    const options = ['-m', 'pytest', '-p', 'suite_plugin', '-q', '--timeout', '600', '-rfE', '--tb=line'];
    await run(program, [...options, ...files.map((file) => `tests/${file}`)], env, alone);
  } finally {
    await service.end('SIGTERM');
  }
}

async function testMlflow(): Promise<number> {
  const {
    size = '100000000',
    suite,
    stores = false,
    story = false,
  } = readFlags(usage, {
    options: {
      size: { type: 'string' },
      suite: { type: 'string' },
      stores: { type: 'boolean' },
      story: { type: 'boolean' },
    },
  }).values;
  const folder = await mkdtemp(join(tmpdir(), 'mps-mlflow-'));
  try {
    if (suite === undefined) await useClients(folder, size, story);
    else await runSuite(folder, suite, stores ? storeFiles : suiteFiles);
    return 0;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

await runMain(testMlflow);
