import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startLocalService } from '../../support/local-service.ts';
import { figure } from '../bench/figure.ts';
import type { Proof, ProofContext } from './proof.ts';
import { Canaries } from './secrets/canaries.ts';
import { describeJobs } from './secrets/local-batch.ts';
import { tourAccounts } from './secrets/tour-accounts.ts';
import { tourBuilds } from './secrets/tour-builds.ts';
import { tourOptimizations, tourTrainings } from './secrets/tour-jobs.ts';
import { tourVariables } from './secrets/tour-variables.ts';
import { Witness } from './secrets/witness.ts';

const root = join(import.meta.dirname, '../../..');

/** Variables of whoever starts the service, or deploys it; none is the service's business but the first. */
const variables = [
  'ADMIN_PASSWORD',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'DATABASE_URL',
  'GITHUB_TOKEN',
  'NODE_AUTH_TOKEN',
  'OPENAI_API_KEY',
  'MPS_ANYTHING',
];

/** Looks through all files of a folder; `except` says what one of them may hold. */
async function lookThrough(
  witness: Witness,
  folder: string,
  except: (file: string) => readonly string[],
): Promise<number> {
  let files = 0;
  for await (const one of glob('**', { cwd: folder, withFileTypes: true })) {
    if (!one.isFile()) continue;
    files += 1;
    const file = join(one.parentPath, one.name);
    witness.inspect(file.slice(folder.length + 1), await readFile(file), except(file));
  }
  return files;
}

/** Makes the templates of a deployment with an environment full of secrets. */
async function synthesize(folder: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [join(root, 'infra/aws/stacks/app.ts')], {
    cwd: root,
    env: { ...environment, PATH, HOME, CDK_OUTDIR: folder },
    stdio: 'ignore',
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error('the templates could not be made');
}

async function prove({ folder, started, size, say }: ProofContext) {
  const canaries = new Canaries();
  const environment = Object.fromEntries(variables.map((name) => [name, canaries.make(`$${name}`)]));
  const data = join(folder, 'data');
  const service = await startLocalService(['--data', data], { ...environment, LOG_LEVEL: 'debug' });
  if ('code' in service) throw new Error(`the service did not start: ${service.output}`);
  started.defer(async () => void (await service.end('SIGKILL')));
  const witness = new Witness(service.url, canaries);
  const engine = JSON.parse(await readFile(join(data, 'credentials.json'), 'utf8'));
  canaries.add('the secret of the engines', engine.secretAccessKey);

  const token = await tourAccounts(witness, canaries, environment['ADMIN_PASSWORD'] ?? '');
  const isShort = size === 'short';
  const ends = {
    ...(await tourTrainings(witness, token, isShort)),
    ...(await tourVariables(witness, canaries, token)),
    ...(await tourBuilds(witness, canaries, token, isShort)),
    ...(isShort ? {} : await tourOptimizations(witness, token)),
  };
  say(JSON.stringify(ends));
  for (const path of [
    '/health',
    '/openapi.json',
    '/docs',
    '/users/',
    '/optimization/models',
    '/no/such/path',
  ])
    await witness.send('GET', path, { token });

  const records = await Array.fromAsync(glob('**/*.json', { cwd: join(data, 'batch') }));
  const texts = await Promise.all(records.map((file) => readFile(join(data, 'batch', file), 'utf8')));
  const ids = [...new Set(texts.join('').match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? [])];
  const described = await describeJobs(service.pid, engine, ids.slice(0, 100));
  witness.inspect('DescribeJobs', Buffer.from(described));
  const commandLines = await Promise.all(
    (await Array.fromAsync(glob('/proc/[0-9]*/cmdline'))).map((file) =>
      readFile(file).catch(() => Buffer.of()),
    ),
  );
  witness.inspect('the command line of a process', Buffer.concat(commandLines));

  await service.end('SIGTERM');
  witness.inspect('what the service printed', Buffer.from(service.output()));
  const keys = join(data, 'credentials.json');
  const files = await lookThrough(witness, data, (file) => (file === keys ? [engine.secretAccessKey] : []));
  let templates = 0;
  if (size === 'long') {
    await synthesize(join(folder, 'cloud'), environment);
    templates = await lookThrough(witness, join(folder, 'cloud'), () => []);
  }
  for (const sighting of witness.sightings) say(sighting);
  const failed = Object.values(ends).filter((status) => status === 'FAILED').length;
  return [
    figure('secrets', canaries.size, '', { remark: 'passwords, tokens, variables' }),
    figure('answers looked at', witness.answers, ''),
    figure('jobs described', JSON.parse(described).length, '', {
      atLeast: Object.keys(ends).length,
      remark: `${failed} had failed`,
    }),
    figure('bytes that the service printed', service.output().length, ''),
    figure('files that it left', files, '', { remark: 'records, logs, artifacts, receipts' }),
    ...(size === 'long' ? [figure('files of a deployment', templates, '', { atLeast: 100 })] : []),
    figure('occurrences of a secret', witness.sightings.length, '', { atMost: 0 }),
  ];
}

export const proof: Proof = {
  name: 'secrets',
  title: 'Secrets in logs, errors, receipts, DescribeJobs and templates',
  prove,
};
