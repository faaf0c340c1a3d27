import * as z from 'zod';
import { Ulid } from '../../../shared/core/formats.ts';
import { Progress, ResultFile, type Strategy } from '../../../shared/data/models/strategy.ts';
import type { Placed } from '../../../shared/jobs/line.ts';
import { showJob, shownJob } from '../../../shared/jobs/shown-job.ts';
import { prunedBy, quantizedBy } from '../../../shared/onnx/strategies/stored-request.ts';

const identity = { strategy_id: Ulid, model_name: z.string(), model_digest: z.string() };

/** Parameters of every strategy's request. */
const requested = {
  inputs: z.string().nullable(),
  outputs: z.string().nullable(),
  result_name: z.string().nullable(),
};

const life = {
  registered: z.boolean().nullable(),
  /** Null once that user is deleted. */
  owner: z.string().nullable(),
  progress: Progress.nullable(),
  job_id: z.string().nullable(),
  ...shownJob,
  result: z.array(ResultFile.omit({ object: true })),
};

const PruneStrategyAnswer = z
  .object({
    ...identity,
    ...prunedBy(),
    ...requested,
    ...life,
  })
  .meta({ id: 'PruneStrategy' });

const QuantizeStrategyAnswer = z
  .object({
    ...identity,
    ...quantizedBy(),
    ...requested,
    ...life,
  })
  .meta({ id: 'QuantizeStrategy' });

/** A strategy as every operation returns it. */
export const strategyAnswers = { prune: PruneStrategyAnswer, quantize: QuantizeStrategyAnswer } as const;

/** Fields of every strategy's response. */
const common = (strategy: Placed<Strategy>, now: Date) => ({
  ...showJob(strategy, now),
  job_id: strategy.batch_job_id,
});

const mistaken = (strategy: Strategy): Error =>
  new Error(`strategy ${strategy.strategy_id} is a ${strategy.kind}`);

/** A pruning to show at this moment. */
export function showPruning(strategy: Placed<Strategy>, now: Date): z.input<typeof PruneStrategyAnswer> {
  const { request } = strategy;
  if (request.operation !== 'prune') throw mistaken(strategy);
  return { ...common(strategy, now), ...request };
}

/** A quantization to show at this moment. */
export function showQuantization(
  strategy: Placed<Strategy>,
  now: Date,
): z.input<typeof QuantizeStrategyAnswer> {
  const { request } = strategy;
  if (request.operation !== 'quantize') throw mistaken(strategy);
  return { ...common(strategy, now), ...request };
}

/** A strategy of either operation to show at this moment. */
export const showStrategy = (strategy: Placed<Strategy>, now: Date) =>
  strategy.kind === 'prune' ? showPruning(strategy, now) : showQuantization(strategy, now);
