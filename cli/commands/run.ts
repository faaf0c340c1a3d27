import { basename } from 'node:path';
import { buildCommand } from '@stricli/core';
import { CliError, exitCodes } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { type Experiment, followExperiment, programExitCode } from '../follow/follow-experiment.ts';
import { connect } from '../login/connect.ts';
import { secondsText } from '../output/units.ts';
import { type Override, parseOverride } from '../run/override-config.ts';
import { type RunOptions, runFolder } from '../run/run-folder.ts';
import { json, project, verbose } from './flags.ts';

interface Flags {
  config?: string;
  set?: readonly Override[];
  project?: string;
  nodes?: number;
  gpus?: number;
  vcpus?: number;
  memory?: number;
  timeout?: number;
  dataset?: string;
  detach?: boolean;
  yes?: boolean;
  json?: boolean;
  verbose?: boolean;
}

function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new Error('must be a number');
  return value;
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
  const { set: overrides = [], detach, yes = false, json: isJson, verbose: _, ...rest } = flags;
  const options: RunOptions = { ...rest, overrides, words, yes };
  const { printer, folder } = this;
  const session = await connect(this.env);
  const place = { folder, name: basename(folder) || 'project', printer };
  const begun = await untilInterrupted((signal) => runFolder(session, options, { ...place, signal }));
  const { project_id, experiment_id } = begun;
  if (detach) {
    if (isJson) printer.json(begun);
    else printer.line(experiment_id);
    return;
  }
  const ended = await followExperiment(session.client, { project_id, experiment_id }, printer);
  if (isJson) printer.json(ended);
  const best = ended.best === null ? '' : `, ${ended.best.criterion} ${ended.best.value}`;
  const reason = ended.status_reason === null ? '' : `: ${ended.status_reason}`;
  printer.say(`${ended.status} in ${secondsText(ended.duration ?? 0)}${best}${reason}`);
  this.process.exitCode = programExitCode(ended);
}

const size = (brief: string) =>
  ({ kind: 'parsed', parse: number, placeholder: 'N', brief, optional: true }) as const;

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
      set: {
        kind: 'parsed',
        parse: parseOverride,
        placeholder: 'NAME=VALUE',
        brief: 'Another value of the configuration, such as optimizer.lr=0.01; may be repeated',
        variadic: true,
        optional: true,
      },
      project,
      nodes: size('Nodes; a cluster from 2 on'),
      gpus: size('GPUs of each node'),
      vcpus: size('vCPUs of each node'),
      memory: size('Memory of each node in MiB'),
      timeout: size('Seconds after which the command is stopped'),
      dataset: {
        kind: 'parsed',
        parse: String,
        placeholder: 'NAME',
        brief: 'Data set to lay out at DATA_DIR',
        optional: true,
      },
      detach: { kind: 'boolean', brief: 'Return after the submission', optional: true, withNegated: false },
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
