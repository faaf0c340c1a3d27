import * as z from 'zod';
import { Ulid } from '../../../shared/core/formats.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { requireReachedProject } from '../../../shared/data/accounts/token-scope.ts';
import type { OptimizationKind } from '../../../shared/data/jobs/job.ts';
import {
  type Compression,
  Progress,
  ResultFile,
  requireCompression,
} from '../../../shared/data/models/compression.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import type { Caller } from '../../../shared/http/definition/endpoint-context.ts';
import { showJob, shownJob } from '../../../shared/jobs/shown-job.ts';
import type { Placed } from '../../../shared/jobs/waiting-queue.ts';
import { prunedBy, quantizedBy } from '../../../shared/onnx/strategies/prune-request.ts';

const identity = { strategy_id: Ulid, model_name: z.string(), model_digest: z.string() };

/** Parameters that every compression has. */
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

const PruningAnswer = z
  .object({
    ...identity,
    ...prunedBy(),
    ...requested,
    ...life,
  })
  .meta({ id: 'PruneStrategy' });

const QuantizationAnswer = z
  .object({
    ...identity,
    ...quantizedBy(),
    ...requested,
    ...life,
  })
  .meta({ id: 'QuantizeStrategy' });

/** Response schemas of compressions, by operation. */
export const compressionAnswers = { prune: PruningAnswer, quantize: QuantizationAnswer } as const;

/** Fields of every compression response. */
const common = (compression: Placed<Compression>, now: Date) => ({
  ...showJob(compression, now),
  job_id: compression.batch_job_id,
});

const mistaken = (compression: Compression): Error =>
  new Error(`strategy ${compression.strategy_id} is a ${compression.kind}`);

/** Show a pruning as of `now`. */
export function showPruning(compression: Placed<Compression>, now: Date): z.input<typeof PruningAnswer> {
  const { request } = compression;
  if (request.operation !== 'prune') throw mistaken(compression);
  return { ...common(compression, now), ...request };
}

/** Show a quantization as of `now`. */
export function showQuantization(
  compression: Placed<Compression>,
  now: Date,
): z.input<typeof QuantizationAnswer> {
  const { request } = compression;
  if (request.operation !== 'quantize') throw mistaken(compression);
  return { ...common(compression, now), ...request };
}

/** Show a compression of either operation as of `now`. */
export const showCompression = (compression: Placed<Compression>, now: Date) =>
  compression.kind === 'prune' ? showPruning(compression, now) : showQuantization(compression, now);

/** Return a compression. Throw a 404 problem without one, and a 403 if the scope of the caller's token leaves it out. */
export async function requireReachedCompression(
  records: TableReader<'records'>,
  caller: Caller,
  kind: OptimizationKind,
  strategy_id: string,
): Promise<Compression> {
  const compression = await requireCompression(records, kind, strategy_id);
  requireReachedProject(caller, compression.project_id);
  return compression;
}

/** Return a compression that the caller may change. Throw a 404 or 403 problem otherwise. */
export async function requireOwnCompression(
  records: TableReader<'records'>,
  caller: Caller,
  kind: OptimizationKind,
  strategy_id: string,
): Promise<Compression> {
  const compression = await requireReachedCompression(records, caller, kind, strategy_id);
  requireOwn(compression, caller);
  return compression;
}

/** Refuse callers who may not change a compression. */
export function requireOwn({ user_id }: Pick<Compression, 'user_id'>, caller: Caller): void {
  if (caller.account_type === 'admin' || user_id === caller.user_id) return;
  throw new ServiceError(
    'forbidden',
    'This strategy belongs to another user. Only its owner and admins may change it.',
  );
}

/** Path parameters of every operation on one compression. */
export const compressionPath = z.strictObject({
  strategy_id: Ulid.describe('ID of the strategy, from the response that created it.'),
});
