import { basename } from 'node:path';
import { buildCommand } from '@stricli/core';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import type { Experiment } from '../../experiments/experiment.ts';
import { showToEnd } from '../../experiments/follow-experiment.ts';
import { connect } from '../../login/connect.ts';
import type { Override } from '../../run/override-config.ts';
import { type RunOptions, runFolder } from '../../run/run-folder.ts';
import { detach, json, overrides, project, type SizeFlags, sizes, verbose } from '../flags.ts';

export const runCommand = buildCommand({
  func: runCommandOf,
  parameters: {
    positional: {
      kind: 'array',
      parameter: { brief: 'What to run, after --', placeholder: 'COMMAND', parse: String },
    },
    flags: {
      config: {
        kind: 'parsed',
        parse: String,
        placeholder: 'FILE',
        brief: 'Configuration to train with; train.* or config.* without it',
        optional: true,
      },
      set: overrides,
      project,
      ...sizes,
      detach,
      yes: { kind: 'boolean', brief: 'Upload much without asking', optional: true, withNegated: false },
      json,
      verbose,
    },
    aliases: { c: 'config', S: 'set', p: 'project', d: 'detach', y: 'yes' },
  },
  docs: {
    brief: 'Train this folder: upload, train, follow',
    fullDescription: `Trains this folder as it is now and follows the training: project, environment, upload, log. The project is that of mps.yaml, or one named after the folder. Ctrl-C leaves the training running; a second one within two seconds cancels it. The exit code is that of the program.

Examples:
  mps run
  mps run -- python train.py --epochs 5
  mps run -c train.yaml -S optimizer.lr=0.01 --nodes 2
  mps run -d --json`,
  },
});

async function runCommandOf(this: CliContext, flags: Flags, ...words: string[]): Promise<void> {
  const { set = [], detach: isDetached, yes = false, json: isJson, verbose: _, ...rest } = flags;
  const options: RunOptions = { ...rest, overrides: set, words, yes };
  const { printer, folder } = this;
  const session = await connect(this.env);
  const place = { folder, name: basename(folder) || 'project', printer };
  const begun = await untilInterrupted((signal, onSubmit) =>
    runFolder(session, options, { ...place, signal, onSubmit }),
  );
  await showToEnd(this, session.client, begun, { detach: isDetached, json: isJson });
}

interface Flags extends SizeFlags {
  config?: string;
  set?: readonly Override[];
  project?: string;
  detach?: boolean;
  yes?: boolean;
  json?: boolean;
  verbose?: boolean;
}

/** Messages after Ctrl-C, before `mps run` follows the training. */
const interruptions = {
  before: 'Interrupted; nothing was submitted.',
  unknown: 'Interrupted while it was submitted. "mps ls" shows whether the training is there.',
  after: ({ experiment_id: id }: Experiment) =>
    `Interrupted after the submission; the training goes on.\nTo follow it: mps logs -f ${id}\nTo end it: mps cancel ${id}`,
};

/**
 * Run the steps up to the submission. Ctrl-C ends them at once. During the submission, Ctrl-C waits for the
 * answer, and a second Ctrl-C ends the command.
 */
async function untilInterrupted(work: Work): Promise<Experiment> {
  const interrupted = new AbortController();
  const ended = (text: string) => new CliError(text, exitCodes.interrupted);
  let isSubmitting = false;
  let press = () => {};
  const pressed = new Promise<never>((_, reject) => {
    press = () => {
      const isSecond = interrupted.signal.aborted;
      interrupted.abort();
      if (!isSubmitting) reject(ended(interruptions.before));
      else if (isSecond) reject(ended(interruptions.unknown));
    };
  });
  process.on('SIGINT', press);
  try {
    const onSubmit = () => {
      isSubmitting = true;
    };
    const begun = await Promise.race([work(interrupted.signal, onSubmit), pressed]);
    if (!interrupted.signal.aborted) return begun;
    throw ended(interruptions.after(begun));
  } finally {
    process.removeListener('SIGINT', press);
  }
}

type Work = (signal: AbortSignal, onSubmit: () => void) => Promise<Experiment>;
