// The samplers beside Optuna's: `npm run proof -- sweep-quality`. About ten minutes.

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CommandError } from '../../../../infra/command/command-error.ts';
import { readFlags } from '../../../../infra/command/read-flags.ts';
import { runMain } from '../../../../infra/command/run-main.ts';
import type { Stopping } from '../../../../shared/sweeps/early-stopping.ts';
import type { Search } from '../../../../shared/sweeps/suggest.ts';
import { type Outcome, playSweep } from './play-sweep.ts';
import { readTasks, type Task } from './tasks.ts';

const usage = `Usage: npm run proof -- sweep-quality [-- --python <program>]
  plays sweeps and Optuna's studies on two functions and three tables of real trainings, 20 seeds each, and prints the
  quartiles of the best values. Ends with 1 where a median is above Optuna's upper quartile
  --python  a Python with optuna 5.0.0; without it one is made in a temporary folder, from the package index`;

const run = promisify(execFile);
const trials = 60;
const seeds = 20;
const epochsOfTask = 27;

type Way = Pick<Search, 'method'> & Pick<Stopping, 'stop'>;

/** Ways of searching that Optuna has too, by the names of `play-optuna.py`. */
const ways: Readonly<Record<string, Way>> = {
  random: { method: 'random', stop: undefined },
  tpe: { method: 'tpe', stop: undefined },
  'tpe+asha': { method: 'tpe', stop: { rule: 'asha', step_min: 1, reduction: 3 } },
};

/** The rule that ends trials early at half the epochs. From step 3 on it ends slow learners of diabetes too early. */
const half: Way = { method: 'tpe', stop: { rule: 'median', step_min: 6, reduction: 3 } };

interface Played {
  task: string;
  method: string;
  best: number;
  epochs: number;
}

async function proveQuality(): Promise<number> {
  const { values } = readFlags(usage, { options: { python: { type: 'string' } } });
  const folder = await mkdtemp(join(tmpdir(), 'sweep-quality-'));
  try {
    const played = await playOptuna(values.python ?? (await newPython(folder)));
    const rows = (await readTasks()).flatMap((task) => rowsOf(task, played));
    console.log('| task | search | best here: quartiles | best of Optuna: quartiles | epochs | |');
    console.log('|---|---|---|---|---|---|');
    for (const { cells, isGood } of rows)
      console.log(`| ${[...cells, isGood ? '' : 'missed'].join(' | ')} |`);
    return rows.every(({ isGood }) => isGood) ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function newPython(folder: string): Promise<string> {
  await run('python3', ['-m', 'venv', folder]);
  await run(join(folder, 'bin/pip'), ['install', '--quiet', 'optuna==5.0.0']);
  return join(folder, 'bin/python');
}

async function playOptuna(python: string): Promise<Played[]> {
  const script = join(import.meta.dirname, 'play-optuna.py');
  const { stdout } = await run(python, [script, `${trials}`, `${seeds}`], { maxBuffer: 10_000_000 });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

interface Row {
  cells: string[];
  isGood: boolean;
}

function rowsOf(task: Task, played: readonly Played[]): Row[] {
  const isTraining =
    task.curve(Object.fromEntries(Object.keys(task.parameters).map((name) => [name, 0]))).length > 1;
  const named = Object.entries(ways).filter(([, { stop }]) => stop === undefined || isTraining);
  const rows = named.map(([name, way]) => {
    // Random search costs nothing here, and the median of 20 of its bests is chance.
    const count = name === 'random' ? 10 * seeds : seeds;
    return row(task.name, name, play(task, way, { trials }, count), studiesOf(played, task, name));
  });
  if (!isTraining) return rows;
  const limit = { epochs: (trials * epochsOfTask) / 2 };
  const early = play(task, half, limit, seeds);
  return [
    ...rows,
    row(task.name, 'tpe+median at half the epochs, beside tpe', early, studiesOf(played, task, 'tpe')),
  ];
}

const play = (task: Task, way: Way, limit: Parameters<typeof playSweep>[2], count: number): Outcome[] =>
  Array.from({ length: count }, (_, seed) => playSweep(task, { ...way, seed }, limit));

function studiesOf(played: readonly Played[], task: Task, method: string): Played[] {
  const found = played.filter((one) => one.task === task.name && one.method === method);
  if (found.length === 0) throw new CommandError(`Optuna has not played ${method} on ${task.name}.`);
  return found;
}

function row(task: string, name: string, own: readonly Outcome[], others: readonly Played[]): Row {
  const here = quartiles(own.map(({ best }) => best));
  const there = quartiles(others.map(({ best }) => best));
  const [, epochs] = quartiles(own.map((one) => one.epochs));
  const [, epochsThere] = quartiles(others.map((one) => one.epochs));
  return {
    cells: [task, name, shown(here), shown(there), `${epochs}; ${epochsThere}`],
    // Losses: smaller is better. Tables have few values, so that quartiles may be equal.
    isGood: here[1] <= there[2],
  };
}

const shown = (values: readonly number[]): string => values.map((value) => value.toPrecision(4)).join(', ');

function quartiles(values: readonly number[]): [number, number, number] {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number): number => {
    const place = share * (sorted.length - 1);
    const low = sorted[Math.floor(place)] ?? Number.NaN;
    return low + ((sorted[Math.ceil(place)] ?? Number.NaN) - low) * (place % 1);
  };
  return [at(0.25), at(0.5), at(0.75)];
}

await runMain(proveQuality);
