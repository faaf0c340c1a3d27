import * as z from 'zod';
import { Attempt } from '../../shared/data/job.ts';
import { JobStatus } from '../../shared/data/job-status.ts';
import { Progress, ResultFile, type Strategy } from '../../shared/data/strategy.ts';
import { Timestamp, Ulid } from '../../shared/endpoint/parameters.ts';
import { actualCost } from '../../shared/jobs/cost.ts';
import { pruneStrategies, quantizeStrategies, quantTypes } from '../../shared/onnx/methods/strategies.ts';

const identity = { strategy_id: Ulid, model_name: z.string(), model_digest: z.string() };

/** What may be asked of every strategy. */
const requested = {
  inputs: z.string().nullable(),
  outputs: z.string().nullable(),
  exclude: z.array(z.string()),
  seed: z.number().int(),
  max_error: z.number().nullable(),
  result_name: z.string().nullable(),
};

const life = {
  registered: z.boolean().nullable(),
  /** Null once that user is deleted. */
  owner: z.string().nullable(),
  status: JobStatus,
  status_reason: z.string().nullable(),
  progress: Progress.nullable(),
  job_id: z.string().nullable(),
  attempt: z.number().int(),
  attempts: z.array(Attempt),
  exit_code: z.number().int().nullable(),
  created_at: Timestamp,
  started_at: Timestamp.nullable(),
  stopped_at: Timestamp.nullable(),
  /** Seconds from start to stop, or to now. */
  duration: z.number().nullable(),
  vcpus: z.number(),
  memory: z.number().int(),
  timeout: z.number().int(),
  /** US dollars for an attempt that takes all its time; null where compute has no price. */
  cost_estimate: z.number().nullable(),
  /** US dollars that it did cost, once it has ended. */
  cost: z.number().nullable(),
  result: z.array(ResultFile.omit({ object: true })),
};

const PruneStrategyAnswer = z
  .object({
    ...identity,
    strategy: z.enum(pruneStrategies),
    compression: z.number().int(),
    ...requested,
    ...life,
  })
  .meta({ id: 'PruneStrategy' });

const QuantizeStrategyAnswer = z
  .object({
    ...identity,
    strategy: z.enum(quantizeStrategies),
    precision: z.number().int(),
    quant_type: z.enum(quantTypes),
    leaf_node: z.boolean(),
    include: z.array(z.string()),
    per_channel: z.boolean(),
    reduce_range: z.boolean(),
    ...requested,
    ...life,
  })
  .meta({ id: 'QuantizeStrategy' });

/** A strategy as every operation answers it. */
export const strategyAnswers = { prune: PruneStrategyAnswer, quantize: QuantizeStrategyAnswer } as const;

/** What every strategy shows at this moment. */
function common(strategy: Strategy, now: Date) {
  const { started_at, stopped_at, batch_job_id } = strategy;
  const end = stopped_at === null ? now.getTime() : Date.parse(stopped_at);
  const duration = started_at === null ? null : Math.max(0, end - Date.parse(started_at)) / 1000;
  return { ...strategy, job_id: batch_job_id, duration, cost: actualCost(strategy) };
}

const mistaken = (strategy: Strategy): Error =>
  new Error(`strategy ${strategy.strategy_id} is a ${strategy.kind}`);

/** A pruning to show at this moment. */
export function showPruning(strategy: Strategy, now: Date): z.input<typeof PruneStrategyAnswer> {
  const { request } = strategy;
  if (request.operation !== 'prune') throw mistaken(strategy);
  return { ...common(strategy, now), ...request };
}

/** A quantization to show at this moment. */
export function showQuantization(strategy: Strategy, now: Date): z.input<typeof QuantizeStrategyAnswer> {
  const { request } = strategy;
  if (request.operation !== 'quantize') throw mistaken(strategy);
  return { ...common(strategy, now), ...request };
}

/** A strategy of either operation to show at this moment. */
export const showStrategy = (strategy: Strategy, now: Date) =>
  strategy.kind === 'prune' ? showPruning(strategy, now) : showQuantization(strategy, now);
