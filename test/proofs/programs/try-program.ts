import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { type Ended, startMps } from '../../support/mps.ts';
import type { Outcome, Program } from './program.ts';

const run = promisify(execFile);

export interface Tools {
  /** Folder for copies of projects. */
  scratch: string;
  home: string;
  environment: Readonly<Record<string, string>>;
  /** Folder with checkouts. */
  checkouts: string | undefined;
  /** Seconds of one command. */
  patience: number;
}

/** The experiment as `mps show --json` prints it, as far as it is read here. */
interface Shown {
  status: string;
  status_reason: string | null;
  params: Record<string, string>;
  metrics: Record<string, { count: number }>;
  metrics_source: string | null;
  best: { metric: string; value: number } | null;
  artifacts: number;
}

/** Return the folder of a project's checkout; undefined if `--projects` has none. */
export function checkoutOf({ from }: Program, checkouts: string | undefined): string | undefined {
  if (!('repository' in from) || checkouts === undefined) return undefined;
  const [owner = '', name = ''] = from.repository.split('/');
  return [`${owner}/${name}`, `${owner}-${name}`, name]
    .map((path) => join(checkouts, path))
    .find((path) => existsSync(path));
}

/**
 * Take one project from its folder to two compared experiments.
 * @param project of the service; those of one list of packages share one, so that its gigabytes are stored once
 */
export async function tryProgram(program: Program, project: string, tools: Tools): Promise<Outcome> {
  const { name, kind, packages, command, change } = program;
  const outcome: Outcome = {
    ...{ name, kind, edits: 0, isTold: packages !== undefined, seconds: [], curves: [], metrics: [] },
    ...{ source: null, params: 0, best: '', files: 0, compared: [], faults: [] },
  };
  const root = await copyOf(program, tools);
  const folder = join(root, program.folder ?? '.');
  const mps = (...args: string[]): Promise<Ended> => typed(args, folder, tools);
  if (packages !== undefined)
    await writeFile(
      join(folder, 'mps.yaml'),
      stringify({ environment: { type: 'python', dependencies: packages.join('\n') } }),
    );
  const flags = ['-p', project, '--yes', '--json', '--memory', '8192', '--vcpus', '2'];
  if (program.data !== undefined) {
    const data = join(tools.scratch, `${folderName(name)}-data`);
    await mkdir(data);
    await run('python3', [join(import.meta.dirname, 'made_data.py'), program.data, data]);
    await mps('data', 'push', program.data, data, '-p', project);
    flags.push('--dataset', program.data);
  }
  // Threads that wait for each other in turns slow a busy machine down.
  for (const [variable, value] of Object.entries({ OMP_NUM_THREADS: '1', ...program.variables }))
    await mps('env', 'set', '--plain', `${variable}=${value}`, '-p', project);

  const changed = change === undefined ? command : command.map((word) => word.replace(...change));
  const ids: string[] = [];
  for (const words of program.isOnce === true ? [command] : [command, changed]) {
    const begun = performance.now();
    const { code, stdout, stderr } = await mps('run', ...flags, '--', ...words);
    outcome.seconds.push((performance.now() - begun) / 1000);
    const last = stdout.trimEnd().split('\n').at(-1) ?? '';
    if (!last.startsWith('{')) {
      outcome.faults.push(`mps run ended with ${code}: ${stderr.trimEnd().split('\n').slice(-3).join(' ')}`);
      return outcome;
    }
    const shown = JSON.parse(last) as Shown & { experiment_id: string };
    ids.push(shown.experiment_id);
    if (shown.status !== 'SUCCEEDED') {
      outcome.faults.push(`${shown.status}: ${shown.status_reason?.split('\n')[0]}`);
      return outcome;
    }
  }
  const shown: Shown = JSON.parse((await mps('show', ids.at(-1) ?? '', '-p', project, '--json')).stdout);
  outcome.metrics = Object.keys(shown.metrics);
  outcome.curves = outcome.metrics.filter((metric) => (shown.metrics[metric]?.count ?? 0) > 1);
  outcome.source = shown.metrics_source;
  outcome.params = Object.keys(shown.params).length;
  outcome.best = shown.best === null ? '' : `${shown.best.metric} ${Number(shown.best.value.toPrecision(4))}`;
  outcome.files = shown.artifacts;
  outcome.edits = await changedFiles(root);
  outcome.faults.push(...missing(program, outcome));
  if (program.isOnce === true) return outcome;
  const compared: { params: Record<string, (string | null)[]> } = JSON.parse(
    (await mps('compare', ...ids, '-p', project, '--json')).stdout,
  );
  outcome.compared = Object.entries(compared.params)
    .filter(([, [one, other]]) => one !== other)
    .map(([param]) => param);
  if (change !== undefined && outcome.compared.length === 0)
    outcome.faults.push('the changed value is not compared');
  return outcome;
}

/** Return what a person would miss in the experiment. */
function missing({ curves = [], metrics = [], minFiles = 0 }: Program, outcome: Outcome): string[] {
  const hasMany = (name: string) => outcome.curves.includes(name);
  return [
    ...curves.filter((name) => !hasMany(name)).map((name) => `no curve of ${name}`),
    ...metrics.filter((name) => !outcome.metrics.includes(name)).map((name) => `no metric ${name}`),
    ...(outcome.files < minFiles ? [`${outcome.files} files`] : []),
  ];
}

/** Copy a project, so that what the proof adds stays out of the checkout. */
async function copyOf(program: Program, { scratch, checkouts }: Tools): Promise<string> {
  const { from } = program;
  const at = join(scratch, folderName(program.name));
  await mkdir(at);
  if ('archive' in from) {
    await run('python3', [
      ...['-m', 'pip', 'download', '--quiet', '--no-deps', '--no-binary', ':all:', '-d', at, from.archive],
    ]);
    const [archive = ''] = await readdir(at);
    await run('tar', ['xzf', archive], { cwd: at });
    return join(at, basename(archive, '.tar.gz'));
  }
  const folder = join(at, from.repository.split('/')[1] ?? '');
  await run('git', ['clone', '--quiet', checkoutOf(program, checkouts) ?? '', folder]);
  return folder;
}

/** Return a name without spaces and slashes. */
export const folderName = (name: string): string => name.replaceAll(/[^\w-]+/g, '-');

/** Return the number of files of the project that differ from its commit. What was added does not count. */
async function changedFiles(folder: string): Promise<number> {
  if (!existsSync(join(folder, '.git'))) return 0;
  const { stdout } = await run('git', ['status', '--porcelain', '--untracked-files=no'], { cwd: folder });
  return stdout.split('\n').filter((line) => line !== '').length;
}

/** Type a command. One that takes too long is ended, and its job cancelled by two interrupts, as a person does it. */
async function typed(
  args: readonly string[],
  folder: string,
  { home, environment, patience }: Tools,
): Promise<Ended> {
  const { child, ended } = startMps(args, { folder, home, environment });
  const late = new AbortController();
  const interrupts = (async () => {
    await delay(patience * 1000, undefined, { signal: late.signal });
    for (let count = 0; count < 2; count += 1) {
      child.kill('SIGINT');
      await delay(500);
    }
  })().catch(() => undefined);
  try {
    return await ended;
  } finally {
    late.abort();
    await interrupts;
  }
}
