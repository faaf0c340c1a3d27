import { basename } from 'node:path';
import { buildCommand } from '@stricli/core';
import { CliError, exitCodes } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import type { Experiment } from '../follow/follow-experiment.ts';
import { showToEnd } from '../follow/show-to-end.ts';
import { connect } from '../login/connect.ts';
import type { Override } from '../run/override-config.ts';
import { type RunOptions, runFolder } from '../run/run-folder.ts';
import { detach, json, project, verbose } from './flags.ts';
import { overrides, type SizeFlags, sizes } from './training-flags.ts';

interface Flags extends SizeFlags {
  config?: string;
  set?: readonly Override[];
  project?: string;
  detach?: boolean;
  yes?: boolean;
  json?: boolean;
  verbose?: boolean;
}

/** Runs the steps up to the submission, which Ctrl-C ends; too late for that, it leaves the training running. */
async function untilInterrupted(work: (signal: AbortSignal) => Promise<Experiment>): Promise<Experiment> {
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  process.on('SIGINT', interrupt);
  try {
    const begun = await work(interrupted.signal);
    if (!interrupted.signal.aborted) return begun;
    const { experiment_id: id } = begun;
    const text = `Interrupted after the submission; the training goes on.\nTo follow it: mps logs -f ${id}\nTo end it: mps cancel ${id}`;
    throw new CliError(text, exitCodes.interrupted);
  } catch (error) {
    if (!interrupted.signal.aborted || error instanceof CliError) throw error;
    throw new CliError('Interrupted; nothing was submitted.', exitCodes.interrupted);
  } finally {
    process.removeListener('SIGINT', interrupt);
  }
}

async function runCommandOf(this: CliContext, flags: Flags, ...words: string[]): Promise<void> {
  const { set = [], detach: isDetached, yes = false, json: isJson, verbose: _, ...rest } = flags;
  const options: RunOptions = { ...rest, overrides: set, words, yes };
  const { printer, folder } = this;
  const session = await connect(this.env);
  const place = { folder, name: basename(folder) || 'project', printer };
  const begun = await untilInterrupted((signal) => runFolder(session, options, { ...place, signal }));
  await showToEnd(this, session.client, begun, { detach: isDetached, json: isJson });
}

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
