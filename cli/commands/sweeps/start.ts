import { access } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { consoleLink, consoleOf } from '../../../shared/client/console-link.ts';
import { parseCommand } from '../../../shared/command/parse-command.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { connect } from '../../login/connect.ts';
import { untilSubmitted } from '../../run/until-submitted.ts';
import { beginSweep, type Sweep } from '../../sweeps/begin-sweep.ts';
import { followSweep } from '../../sweeps/follow-sweep.ts';
import { usualSweepFile } from '../../sweeps/sweep-file.ts';
import { parseSwept, type SweptValue } from '../../sweeps/swept-value.ts';
import { command } from '../command.ts';
import { detach, json, parsed, project, repeated, root, sizes, text, uploadYes, verbose } from '../flags.ts';

const number = (brief: string) => parsed(numberOf, 'N', brief);

export const swept = repeated(
  parseSwept,
  'NAME=RANGE',
  'Vary a value: lr=1e-4..1e-1:log, batch=16..128:16 (steps), depth=2,4,8; or set it for all trials: epochs=5; may be repeated',
);

/** Flags that begin a sweep. The help of all of `mps sweep` lists them, too. */
export const startFlags = {
  set: swept,
  trials: number('Number of configurations to try'),
  parallel: number('Most trainings at once'),
  method: text('NAME', 'grid, random, sobol, tpe or external (default: tpe)'),
  metric: text('NAME', "Metric that ranks the trials (default: the project's criterion)"),
  goal: text('GOAL', 'minimize or maximize (default: as usual for the metric)'),
  repeats: number('Trainings of each configuration; their mean ranks it'),
  stop: text('RULE', 'Stop bad trials early: asha or median'),
  budget: number('Most that the sweep may cost, in US$'),
  seed: number('Seed of the values; the same seed makes the same trials'),
  name: text('NAME', 'Name of the sweep'),
  config: text('FILE', 'Configuration whose values are varied (default: train.* or config.*)'),
  command: text('COMMAND', 'Command to run; also the words after --'),
  project,
  root,
  ...sizes,
  detach,
  yes: uploadYes,
  json,
  verbose,
} as const;

export const startCommand = command({
  brief: 'Begin a sweep over this folder and follow it',
  help: `Tries many settings of this folder's training, and ranks them by a metric. The folder is uploaded as with "mps run". It shows what the sweep will take, then a line for each trial. Ctrl-C leaves it running; a second one within two seconds cancels it. It exits with 0 once the sweep is complete, and with 1 if it failed, was cancelled or paused.

Examples:
  mps sweep sweep.yaml
  mps sweep -S learning_rate=1e-4..1e-1:log -S model.depth=2,4,8 --trials 20 --parallel 4 -- python train.py
  mps sweep -S --lr=0.001,0.01,0.1 --method grid -- python train.py --epochs 5
  mps sweep sweep.yaml --trials 5 --budget 2 -d --json`,
  args: [
    {
      brief: `File of the sweep (default: ${usualSweepFile}, unless -S varies a value)`,
      placeholder: 'FILE',
      parse: String,
      optional: true,
    },
  ],
  flags: startFlags,
  aliases: { S: 'set', c: 'config', p: 'project', d: 'detach', y: 'yes' },
  async run(flags, given) {
    const { set = [], detach: isDetached, yes = false, json: isJson = false, command, stop, ...rest } = flags;
    const { trials, parallel, method, metric, goal, repeats, budget, seed, name, verbose: _, ...run } = rest;
    const file = given ?? (await usualFile(this.folder, set));
    const fields = {
      ...{ trials, parallel, method, metric, goal, repeats, budget, seed, name },
      stop: stop === undefined ? undefined : { rule: stop },
    };
    const words = command === undefined ? [] : parseCommand(command);
    const session = await connect(this.env);
    const place = { folder: this.folder, name: basename(this.folder) || 'project', printer: this.printer };
    const sweep = await untilSubmitted(
      (signal, onSubmit) =>
        beginSweep(session, { file, swept: set, fields, ...run, words, yes }, { ...place, signal, onSubmit }),
      interruptions,
    );
    const page = consoleLink(consoleOf(session.client.url), [
      'projects',
      sweep.project_id,
      'sweeps',
      sweep.sweep_id,
    ]);
    this.printer.say(`console     ${page}`);
    if (isDetached === true) {
      if (isJson) this.printer.json(sweep);
      else this.printer.line(sweep.sweep_id);
      return;
    }
    await followSweep(this, session.client, sweep, { isNew: true, json: isJson });
  },
});

function numberOf(given: string): number {
  const value = Number(given);
  if (given.trim() === '' || !Number.isFinite(value)) throw new Error('must be a number');
  return value;
}

/** Return the folder's own file, if no `-S` says what to vary. @throws CliError if there is neither */
async function usualFile(folder: string, set: readonly SweptValue[]): Promise<string | undefined> {
  if (set.some((one) => 'parameter' in one)) return undefined;
  const isThere = await access(join(folder, usualSweepFile)).then(
    () => true,
    () => false,
  );
  if (isThere) return usualSweepFile;
  throw new CliError(
    `Say what to vary: mps sweep -S learning_rate=1e-4..1e-1:log --trials 20, or write ${usualSweepFile}.`,
    exitCodes.usage,
  );
}

/** Messages after Ctrl-C, before `mps sweep` follows the sweep. */
const interruptions = {
  before: 'Interrupted; no sweep was begun.',
  unknown: 'Interrupted while the sweep began. "mps sweep ls" shows whether it exists.',
  after: ({ sweep_id: id }: Sweep) =>
    `Interrupted after the beginning; the sweep continues.\nTo follow it: mps sweep show -f ${id}\nTo cancel it: mps sweep cancel ${id}`,
};
