import * as z from 'zod';
import { FileId, Timestamp, Ulid } from '../../core/formats.ts';
import { Criterion } from '../../data/projects/project.ts';
import { type Sweep, SweepCounts, SweepStatus, TrialParams } from '../../data/sweeps/sweep.ts';
import { minSeconds, roundedDollars } from '../../jobs/cost.ts';
import { sizeBounds } from '../../jobs/size.ts';
import { sweepFields } from '../spec.ts';
import { specOf } from './advance-sweep.ts';

/** What a sweep takes, from its number of experiments. */
export const SweepEstimate = z
  .object({
    experiments: z.number().int().describe('Trials times repeats.'),
    hours: z.number().describe('With as many at once as `parallel` says, if all get a place.'),
    cost: z.number().nullable().describe('US dollars of all experiments; null where compute has no price.'),
    seconds_each: z.number().describe('Seconds of one experiment.'),
    from: z
      .enum(['earlier runs', 'timeout'])
      .describe(
        'Where `seconds_each` comes from: experiments of the sweep that are complete (their mean), or before that earlier ones with this configuration (their median); or the timeout, if there are none.',
      ),
    most_each: z
      .number()
      .nullable()
      .describe('US dollars of one experiment that reaches its timeout: a budget reserves it.'),
  })
  .meta({ id: 'SweepEstimate' });

/** Sweep in the responses of all operations: its file's fields, and how far it is. */
export const SweepAnswer = z
  .object({
    sweep_id: Ulid,
    project_id: Ulid,
    name: z.string(),
    note: z.string().nullable(),
    status: SweepStatus,
    status_reason: z.string().nullable(),
    config: FileId,
    config_version: z.number().int(),
    args: z.boolean(),
    metric: z.string().describe('Metric that ranks the trials.'),
    goal: Criterion.shape.goal,
    method: sweepFields.method.unwrap(),
    seed: z.number().int(),
    parameters: z.record(z.string(), z.unknown()).describe('As in its file.'),
    start: z.array(TrialParams),
    trials: z.number().int(),
    repeats: z.number().int(),
    repeat_seed: z.string().nullable(),
    parallel: z.number().int(),
    stop: z.object({ rule: z.string(), step_min: z.number(), reduction: z.number() }).nullable(),
    retries: z.number().int(),
    budget: z.number().nullable().describe('US dollars.'),
    until: z.object({ metric: z.number() }).nullable(),
    vcpus: sizeBounds.vcpus,
    memory: z.number().int().describe('MiB.'),
    gpus: z.number().int(),
    nodes: z.number().int(),
    timeout: z.number().int().describe('Seconds.'),
    dataset: z.string().nullable(),
    counts: SweepCounts.extend({
      begun: z.number().int().describe('Experiments that were begun, without further tries.'),
      running: z.number().int().describe('Experiments that have not ended.'),
      left: z.number().int().describe('Experiments that are still to begin.'),
    }),
    best: z
      .object({
        trial: z.number().int(),
        params: TrialParams,
        value: z.number(),
        deviation: z.number().nullable().describe('Standard deviation of its repeats.'),
        step: z.number().nullable().describe('Step of the value; null for repeats.'),
        last: z
          .number()
          .nullable()
          .describe(
            'Value that the trial ended with, and a model that it saves at its end has; null for repeats.',
          ),
      })
      .nullable()
      .describe('Best trial whose repeats have all ended.'),
    estimate: SweepEstimate,
    spent: z.number().nullable().describe('US dollars of the experiments that have ended.'),
    created_at: Timestamp,
    updated_at: Timestamp,
    ended_at: Timestamp.nullable(),
  })
  .meta({ id: 'Sweep' });

/** Build the response for a sweep. */
export function showSweep(sweep: Sweep): z.input<typeof SweepAnswer> {
  const { inputs, criterion, counts, running, begun, again } = sweep;
  const spec = specOf(sweep);
  const { environment: _, source_sha256: __, config_id: config, ...sizes } = inputs;
  const { config_version, vcpus, memory, gpus, nodes, timeout, dataset } = sizes;
  return {
    ...sweep,
    ...{ config, config_version, vcpus, memory, gpus, nodes, timeout, dataset },
    args: spec.args,
    metric: criterion.name,
    goal: criterion.goal,
    method: spec.method,
    seed: spec.seed,
    parameters: spec.parameters,
    start: spec.start,
    repeats: spec.repeats,
    repeat_seed: spec.repeat_seed ?? null,
    parallel: spec.parallel,
    stop: spec.stop ?? null,
    retries: spec.retries,
    budget: spec.budget ?? null,
    until: spec.until ?? null,
    counts: {
      ...counts,
      begun,
      running: running.length,
      left: Math.max(0, sweep.trials * spec.repeats - begun) + again.length,
    },
    // A trial that an earlier release judged has neither.
    best: sweep.best === null ? null : { step: null, last: null, ...JSON.parse(sweep.best) },
    estimate: estimateOf(sweep, spec),
    spent: sweep.run_cost === null ? null : sweep.spent,
  };
}

/** Return the estimated number of trainings, time and cost of a sweep. */
export function estimateOf(
  {
    trials,
    run_cost,
    run_seconds,
    inputs: { timeout },
  }: Pick<Sweep, 'trials' | 'run_cost' | 'run_seconds'> & { inputs: Pick<Sweep['inputs'], 'timeout'> },
  { repeats, parallel }: { repeats: number; parallel: number },
): z.input<typeof SweepEstimate> {
  const experiments = trials * repeats;
  const seconds_each = run_seconds ?? timeout;
  const rounds = Math.ceil(experiments / Math.min(parallel, experiments));
  return {
    experiments,
    hours: Math.round(((rounds * seconds_each) / 3600) * 1000) / 1000,
    cost:
      run_cost === null
        ? null
        : roundedDollars(
            (experiments * run_cost * Math.max(minSeconds, seconds_each)) / Math.max(minSeconds, timeout),
          ),
    seconds_each,
    from: run_seconds === null ? 'timeout' : 'earlier runs',
    most_each: run_cost,
  };
}
