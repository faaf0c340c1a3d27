import assert from 'node:assert/strict';
import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CommandError } from '../../../../infra/command/command-error.ts';
import { readFlags } from '../../../../infra/command/read-flags.ts';
import { runMain } from '../../../../infra/command/run-main.ts';
import { startLocalService } from '../../../support/local-service.ts';
import { Canaries } from '../../faults/secrets/canaries.ts';
import { Witness } from '../../faults/secrets/witness.ts';
import { Person } from './person.ts';
import { privateSource } from './private-source.ts';
import { searchFiles } from './search-files.ts';

// `npm run proof -- tour`: what a new user does with a project of their own, by `mps` alone where that can do it.

const usage = `Usage: npm run proof -- tour [-- --pytorch] [-- --torch <python>] [-- --keep]
  a project with packages from PyPI: a sweep, a lack of memory, a rerun, two nodes, a colleague and a secret
  --pytorch  train by PyTorch in place of scikit-learn: some 3 GB of packages, which two projects install
  --torch    without --pytorch, a Python that has it, for the nodes to meet by torch.distributed; by sockets without it
  --keep     leave the folder with the data of the service`;

const here = import.meta.dirname;
const password = 'a long sentence nobody guesses';
const rates = Array.from({ length: 12 }, (_, at) => (at + 1) / 100);
const sweepSeconds = 900;

/** Points of two kinds, which a line tells apart but for some. */
const points = (count: number, from: number): number[][] =>
  Array.from({ length: count }, (_, at) => {
    const angle = (from + at) * 2.4;
    const kind = at % 2;
    return [Math.cos(angle) + 1.5 * kind, Math.sin(angle), kind];
  });

interface Tour {
  scratch: string;
  folder: string;
  grace: Person;
  ada: Person;
  witness: Witness;
  token: string;
  project: string;
  /** Folder of the packages that take the place of the project's own. */
  packages: string | undefined;
}

const say = (text: string) => process.stdout.write(`${text}\n`);

async function step(what: string, act: () => Promise<string | undefined>): Promise<void> {
  const begun = performance.now();
  const told = await act();
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  say(`ok  ${what}${told === undefined ? '' : `: ${told}`} (${seconds} s)`);
}

const experimentPath = ({ project }: Tour, id: string): string => `/projects/${project}/experiments/${id}`;

/** What an answer of the service says; every one of them is searched for the secret. */
const read = ({ witness, token }: Tour, path: string) => witness.must('GET', path, { token });

async function ended(tour: Tour, id: string) {
  for (let left = sweepSeconds; left > 0; left -= 1) {
    const experiment = await read(tour, experimentPath(tour, id));
    if (['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(experiment.status)) return experiment;
    await delay(1_000);
  }
  throw new Error(`${id} has not ended`);
}

async function sweep(tour: Tour): Promise<string> {
  const { grace, folder } = tour;
  const ids = await Promise.all(
    rates.map((rate) => grace.types(folder, ['run', '-d', '-S', `learning_rate=${rate}`])),
  );
  const waiting = await Promise.all(ids.map((id) => read(tour, experimentPath(tour, id))));
  const atOnce = waiting.filter(({ status }) => status !== 'SUCCEEDED').length;
  for (const [at, id] of ids.entries()) {
    const experiment = await ended(tour, id);
    assert.equal(experiment.status, 'SUCCEEDED', `${id}: ${experiment.status_reason}`);
    assert.equal(experiment.params.learning_rate, String(rates[at]));
    const config = await read(tour, `${experimentPath(tour, id)}/config`);
    assert.equal(config.data.learning_rate, rates[at]);
  }
  return `${ids.length}, of which ${atOnce} had not ended when all were submitted`;
}

async function outOfMemory(tour: Tour): Promise<string> {
  const { grace, folder } = tour;
  const hungry = await grace.tries(folder, ['run', '--json', '--memory', '1024', '-S', 'hog_megabytes=4000']);
  const failed = JSON.parse(hungry.stdout.trimEnd().split('\n').at(-1) ?? '');
  assert.equal(failed.status, 'FAILED');
  assert.match(failed.status_reason, /memory/i);
  const again = ['rerun', failed.experiment_id, '-S', 'hog_megabytes=0', '--json'];
  const log = await grace.types(folder, again);
  assert.match(log, /^goes on after epoch 2$/m);
  assert.doesNotMatch(log, /^epoch 0:/m);
  return failed.status_reason;
}

async function changedRate({ grace, folder }: Tour): Promise<string> {
  const [row = ''] = (await grace.types(folder, ['ls', "status = 'SUCCEEDED'", '-n', '1'])).split('\n');
  const [id = ''] = row.split('\t');
  const again = await grace.types(folder, ['rerun', id, '-S', 'learning_rate=0.5', '--fresh', '-d']);
  await grace.types(folder, ['logs', '-f', again]);
  const compared = JSON.parse(await grace.types(folder, ['compare', id, again, '--json']));
  assert.equal(compared.params.learning_rate[1], '0.5');
  return `learning_rate ${compared.params.learning_rate.join(' and ')}`;
}

async function twoNodes({ grace, scratch, packages }: Tour, python: string): Promise<string> {
  const folder = join(scratch, 'cluster');
  await cp(join(here, 'cluster'), folder, { recursive: true });
  if (packages !== undefined) await cp(join(packages, 'requirements.txt'), join(folder, 'requirements.txt'));
  const log = await grace.types(folder, ['run', '--nodes', '2', '--', python, 'meet.py']);
  // The log is that of node 0; the sum takes both.
  const met = log.split('\n').find((line) => line.startsWith('2 nodes have 3.0 by'));
  assert.ok(met, log);
  return met;
}

async function colleague(tour: Tour): Promise<string> {
  const { ada, folder, project, witness, token } = tour;
  const refused = await ada.tries(folder, ['run', '-d', '-p', project]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /mps whoami/);
  assert.match(await ada.types(folder, ['ls', '-p', project]), /SUCCEEDED/);
  await witness.must('PUT', `/projects/${project}/members/ada`, { token, query: { role: 'developer' } });
  assert.match(await ada.types(folder, ['run', '-p', project, '-S', 'learning_rate=0.3']), /accuracy/);
  return refused.stderr.trimEnd().split('\n').at(-2) ?? '';
}

/** Reads what the service tells of the project, so that every answer is searched. */
async function readAll(tour: Tour): Promise<void> {
  const { project } = tour;
  for (const path of ['', '/environment', '/variables', '/source', '/datasets', '/configs', '/members'])
    await read(tour, `/projects/${project}${path}`);
  const experiments = await read(tour, `/projects/${project}/experiments?limit=100`);
  for (const { experiment_id } of experiments)
    for (const path of ['', '/config', '/logs', '/metrics', '/artifacts'])
      await read(tour, `${experimentPath(tour, experiment_id)}${path}`);
}

async function walk(scratch: string, python: string, packages?: string): Promise<number> {
  const canaries = new Canaries();
  const secret = canaries.make('the token of the private source');
  const data = join(scratch, 'data');
  await using undo = new AsyncDisposableStack();
  const source = await privateSource(secret, points(40, 1_000));
  undo.defer(() => source.close());
  const service = await startLocalService(['--data', data], { ADMIN_PASSWORD: password });
  if (!('url' in service)) throw new CommandError(service.output);
  undo.defer(async () => void (await service.end('SIGTERM')));

  const admin = await Person.arrive('admin', password, service, scratch);
  for (const name of ['grace', 'ada'])
    await admin.types(scratch, ['users', 'add', name, '--type', 'developer'], `${password}\n`);
  const grace = await Person.arrive('grace', password, service, scratch);
  const ada = await Person.arrive('ada', password, service, scratch);
  const folder = join(scratch, 'points');
  await cp(join(here, 'project'), folder, { recursive: true });
  if (packages !== undefined) await cp(packages, folder, { recursive: true });
  await mkdir(join(scratch, 'numbers'));
  const csv = points(400, 0).map((row) => row.join(','));
  await writeFile(join(scratch, 'numbers/points.csv'), `${csv.join('\n')}\n`);

  await step('a data set, an address and a secret, before anything was trained', async () => {
    await grace.types(folder, ['data', 'push', 'points', '../numbers']);
    await grace.types(folder, ['env', 'set', '--plain', `DATA_URL=${source.url}`]);
    await grace.types(folder, ['env', 'set', 'DATA_TOKEN'], `${secret}\n`);
    await writeFile(join(folder, 'mps.yaml'), 'dataset: points\n');
    return grace.types(folder, ['data', 'ls']);
  });
  const witness = new Witness(service.url, canaries);
  const body = new URLSearchParams({ grant_type: 'password', username: 'grace', password }).toString();
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const { token } = await witness.send('POST', '/auth/token', { headers, body }, true);
  const [found] = await witness.must('GET', '/projects/?member=true', { token });
  const tour: Tour = { scratch, folder, grace, ada, witness, token, project: found.project_id, packages };

  await step('the first training, which installs the packages', async () => {
    const log = await grace.types(folder, ['run']);
    assert.match(log, /^the private source gave 40 points$/m);
    assert.doesNotMatch(log, new RegExp(secret));
    return log.split('\n').at(-1) ?? '';
  });
  await step('trainings submitted at once start by themselves, each with its own values', () => sweep(tour));
  await step('one that ran out of memory goes on from its checkpoint', () => outOfMemory(tour));
  await step('one is trained again with another learning rate', () => changedRate(tour));
  await step('two nodes meet', () => twoNodes(tour, python));
  await step('a colleague trains once they are a member, and only then', () => colleague(tour));
  await step('the secret is in no answer, no output and no file', async () => {
    await readAll(tour);
    await service.end('SIGTERM');
    for (const { name, seen } of [admin, grace, ada])
      witness.inspect(`the terminal of ${name}`, Buffer.from(seen.join('\n')));
    witness.inspect('the output of the service', Buffer.from(service.output()));
    const { files, found: inFiles } = await searchFiles(scratch, canaries);
    assert.deepEqual([...witness.sightings, ...inFiles], []);
    return `${witness.answers} answers, ${files} files`;
  });
  return 0;
}

async function testTour(): Promise<number> {
  const options = {
    pytorch: { type: 'boolean' },
    torch: { type: 'string' },
    keep: { type: 'boolean' },
  } as const;
  const { pytorch = false, torch = 'python3', keep = false } = readFlags(usage, { options }).values;
  const scratch = await mkdtemp(join(tmpdir(), 'mps-tour-'));
  // Jobs run as users of their own, who have to pass through.
  await chmod(scratch, 0o711);
  try {
    const code = await (pytorch ? walk(scratch, 'python', join(here, 'pytorch')) : walk(scratch, torch));
    say('8 passed, 0 failed');
    return code;
  } finally {
    if (keep) say(`kept: ${scratch}`);
    else await rm(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

await runMain(testTour);
