import { createHash } from 'node:crypto';
import { CommandError } from '../../command/parse-command.ts';
import { setFlags } from '../../command/set-flags.ts';
import { badRequest } from '../../core/service-error.ts';
import type { Experiment } from '../../data/experiments/experiment.ts';
import type { Sweep } from '../../data/sweeps/sweep.ts';
import { readSweepConfig } from '../../data/sweeps/sweep-run.ts';
import type { TableReader } from '../../data/table/table.ts';
import { overrideContent } from '../../training/override-content.ts';
import type { TrainingInputs } from '../../training/record-experiment.ts';
import type { SweepSpec } from '../spec.ts';
import type { Params } from '../types.ts';

/**
 * Return the inputs of the experiment of a run: those of the sweep, with the values of its trial and repeat.
 * @param earlier experiment of the run that it goes on from
 */
export async function runInputs(
  records: TableReader<'records'>,
  sweep: Sweep,
  spec: Pick<SweepSpec, 'args' | 'repeat_seed'>,
  { params, repeat }: { params: Params; repeat: number },
  earlier: Experiment | undefined,
): Promise<TrainingInputs> {
  const stored = await readSweepConfig(records, sweep);
  if (stored === undefined) throw new Error(`the sweep ${sweep.sweep_id} has no configuration`);
  const changed = replacedValues(spec, params, repeat);
  const { inputs } = sweep;
  const content = changed === null ? stored : await overrideContent(inputs.config_id, stored, changed);
  const { entry_point_command } = inputs.environment;
  return {
    ...inputs,
    content,
    config_sha256: changed === null ? inputs.config_sha256 : sha256(content),
    overrides: changed,
    environment: {
      ...inputs.environment,
      entry_point_command: spec.args ? withFlags(entry_point_command, params) : entry_point_command,
    },
    rerun_of: earlier?.experiment_id ?? null,
    continues_from: earlier === undefined ? null : originOf(earlier),
    git: null,
  };
}

/** Return the values of the configuration that a run replaces. Return null if it replaces none. */
export function replacedValues(
  { args, repeat_seed }: Pick<SweepSpec, 'args' | 'repeat_seed'>,
  params: Params,
  repeat: number,
): Params | null {
  const values = {
    ...(args ? {} : params),
    ...(repeat_seed !== undefined && { [repeat_seed]: repeat }),
  };
  return Object.keys(values).length === 0 ? null : values;
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Return the experiment whose checkpoints a further try starts from. */
const originOf = ({ checkpoints, experiment_id, continues_from }: Experiment): string | null =>
  checkpoints > 0 ? experiment_id : continues_from;

/**
 * Set parameters as flags of a command: `learning_rate` is `--learning-rate`.
 * @throws ServiceError 400 for a command that takes no flags
 * @example
 * withFlags('python train.py', { learning_rate: 0.01 }); // 'python train.py --learning-rate=0.01'
 */
export function withFlags(command: string, params: Params): string {
  const flags = Object.entries(params).map(([name, value]) => [`--${name.replaceAll('_', '-')}`, value]);
  try {
    return setFlags(command, Object.fromEntries(flags));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw badRequest([{ in: 'body', name: 'args', message: error.message }]);
  }
}
