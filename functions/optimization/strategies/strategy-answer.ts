import * as z from 'zod';
import { Ulid } from '../../../shared/core/formats.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import type { OptimizationKind } from '../../../shared/data/jobs/job.ts';
import {
  Progress,
  ResultFile,
  requireStrategy,
  type Strategy,
} from '../../../shared/data/models/strategy.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import type { Caller } from '../../../shared/http/definition/endpoint-context.ts';
import type { Placed } from '../../../shared/jobs/line.ts';
import { showJob, shownJob } from '../../../shared/jobs/shown-job.ts';
import { prunedBy, quantizedBy } from '../../../shared/onnx/strategies/prune-request.ts';

const identity = { strategy_id: Ulid, model_name: z.string(), model_digest: z.string() };

/** Parameters that every strategy request has. */
const requested = {
  inputs: z.string().nullable(),
  outputs: z.string().nullable(),
  result_name: z.string().nullable(),
};

const life = {
  registered: z.boolean().nullable(),
  /** Null after that user was deleted. */
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

/** Response schemas of strategies, by operation. */
export const strategyAnswers = { prune: PruneStrategyAnswer, quantize: QuantizeStrategyAnswer } as const;

/** Fields of every strategy response. */
const common = (strategy: Placed<Strategy>, now: Date) => ({
  ...showJob(strategy, now),
  job_id: strategy.batch_job_id,
});

const mistaken = (strategy: Strategy): Error =>
  new Error(`strategy ${strategy.strategy_id} is a ${strategy.kind}`);

/** Show a pruning as of `now`. */
export function showPruning(strategy: Placed<Strategy>, now: Date): z.input<typeof PruneStrategyAnswer> {
  const { request } = strategy;
  if (request.operation !== 'prune') throw mistaken(strategy);
  return { ...common(strategy, now), ...request };
}

/** Show a quantization as of `now`. */
export function showQuantization(
  strategy: Placed<Strategy>,
  now: Date,
): z.input<typeof QuantizeStrategyAnswer> {
  const { request } = strategy;
  if (request.operation !== 'quantize') throw mistaken(strategy);
  return { ...common(strategy, now), ...request };
}

/** Show a strategy of either operation as of `now`. */
export const showStrategy = (strategy: Placed<Strategy>, now: Date) =>
  strategy.kind === 'prune' ? showPruning(strategy, now) : showQuantization(strategy, now);

/** Return a strategy that the caller may change. Throw a 404 or 403 problem otherwise. */
export async function requireOwnStrategy(
  records: TableReader<'records'>,
  caller: Caller,
  kind: OptimizationKind,
  strategy_id: string,
): Promise<Strategy> {
  const strategy = await requireStrategy(records, kind, strategy_id);
  requireOwn(strategy, caller);
  return strategy;
}

/** Refuse callers who may not change a strategy. */
export function requireOwn({ user_id }: Pick<Strategy, 'user_id'>, caller: Caller): void {
  if (caller.account_type === 'admin' || user_id === caller.user_id) return;
  throw new ServiceError(
    'forbidden',
    'This strategy belongs to somebody else; only its owner and admins may change it.',
  );
}

/** Path parameters of every operation on one strategy. */
export const strategyPath = z.strictObject({
  strategy_id: Ulid.describe('Id of the strategy, from the response that created it.'),
});
