import type { BatchControl } from '../../../shared/aws/batch.ts';
import {
  badRequest,
  faultsOf,
  notFound,
  type ParameterFault,
  ServiceError,
} from '../../../shared/core/service-error.ts';
import { newJob } from '../../../shared/data/jobs/new-job.ts';
import { sizeLimits } from '../../../shared/data/jobs/size-limits.ts';
import { limitShare } from '../../../shared/data/jobs/vcpu-shares.ts';
import {
  findModel,
  modelExists,
  type ReadyModel,
  requireReadyModel,
} from '../../../shared/data/models/model.ts';
import {
  newStrategyId,
  putStrategy,
  type Strategy,
  strategyJob,
} from '../../../shared/data/models/strategy.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import { ConditionFailedError } from '../../../shared/data/table/write-label.ts';
import type { Ambient, Caller } from '../../../shared/http/definition/endpoint-context.ts';
import { beginOrWait, waitingFields } from '../../../shared/jobs/admission/begin-or-wait.ts';
import { costEstimate } from '../../../shared/jobs/admission/cost.ts';
import { checkLimits, lineIsFull } from '../../../shared/jobs/admission/job-limits.ts';
import { fargateSize } from '../../../shared/jobs/admission/job-size.ts';
import { requireOwn } from '../models/change-model.ts';
import { requireShapesOf } from '../models/require-shapes.ts';

/** A request for a strategy, with its defaults. */
export interface StrategyRequest {
  model_name: string;
  request: Strategy['request'];
  inputs: string | null;
  outputs: string | null;
  result_name: string | undefined;
  vcpus: number | undefined;
  memory: number | undefined;
  timeout: number | undefined;
}

export type BeginContext = Ambient & {
  records: TableWriter<'records'>;
  batch: BatchControl;
  caller: Caller;
};

/** Default memory and timeout of a strategy: MiB and seconds. */
const usual = { vcpus: 2, memory: 4096, timeout: 3600 };

const sizeOf = ({ vcpus, memory }: StrategyRequest) =>
  vcpus === undefined && memory === undefined ? { ...usual, gpus: 0 } : fargateSize({ vcpus, memory });

function strategyOf(
  strategy_id: string,
  asked: StrategyRequest,
  { model_name, model_id, digest, files, shapes }: ReadyModel,
  { caller, now, settings }: BeginContext,
): Strategy {
  const created_at = now().toISOString();
  const size = { ...sizeOf(asked), nodes: 1 };
  const timeout = asked.timeout ?? Math.min(usual.timeout, settings.limits.jobSeconds);
  const limit_share = limitShare(strategy_id, settings.limits.vcpus);
  const limits = sizeLimits({ asProcess: settings.jobsRunAs === 'processes', isOnNodes: false });
  return {
    ...newJob({ ...size, timeout, user_id: caller.user_id, created_at, limit_share, limits }),
    strategy_id,
    kind: asked.request.operation,
    owner: caller.username,
    model_name,
    model_id,
    model_digest: digest,
    files,
    stored_shapes: shapes,
    request: asked.request,
    inputs: asked.inputs,
    outputs: asked.outputs,
    result_name: asked.result_name ?? null,
    registered: null,
    progress: null,
    result: [],
    receipt_parts: 0,
    cost_estimate: costEstimate(settings.prices, { ...size, isOnNodes: false, timeout }),
  };
}

async function takenName(
  records: TableWriter<'records'>,
  name: string | null,
): Promise<ParameterFault | undefined> {
  if (name === null || (await findModel(records, name)) === undefined) return undefined;
  const message = `There is a model ${name} already; take another result_name.`;
  return { in: 'query', name: 'result_name', message };
}

/** Throws for all errors at once: 400, or 409 where the only error is that the result's name is taken. */
function refuseTogether(
  shapes: readonly ParameterFault[],
  limits: readonly ParameterFault[],
  taken: ParameterFault | undefined,
): void {
  const faults = [...shapes, ...limits];
  if (faults.length > 0) throw badRequest(taken === undefined ? faults : [...faults, taken]);
  if (taken !== undefined) throw new ServiceError('conflict', taken.message, { errors: [taken] });
}

/** A strategy that was recorded, and whether it waits in line. */
interface Begun {
  strategy: Strategy;
  waits: boolean;
}

/**
 * Records a strategy, which pins the model as it is. From then on it will reach an end: should this process die before
 * it is handed to Batch, the reconciler submits it.
 */
export async function beginStrategy(asked: StrategyRequest, context: BeginContext): Promise<Begun> {
  const { records, newId, settings, idempotencyWrites, caller } = context;
  const model = await requireReadyModel(records, asked.model_name);
  requireOwn(model, caller);
  const strategy_id = await newStrategyId(asked.request.operation, records, newId());
  const strategy = strategyOf(strategy_id, asked, model, context);
  const size = { timeout: asked.timeout, vcpus: strategy.vcpus };
  refuseTogether(
    faultsOf(() => requireShapesOf(model.summary, asked)),
    faultsOf(() => checkLimits(size, settings.limits)),
    await takenName(records, strategy.result_name),
  );
  try {
    const writesOf = (ticket: number | null) => [
      modelExists(model),
      putStrategy({ ...strategy, ...(ticket !== null && waitingFields(ticket)) }),
      ...idempotencyWrites(strategy_id),
    ];
    const job = strategyJob(strategy);
    const waits = await beginOrWait(records, job, settings.limits, writesOf, context.now());
    return { strategy, waits };
  } catch (error) {
    if (error instanceof ConditionFailedError) throw notFound('model', asked.model_name);
    throw lineIsFull(error, settings.limits);
  }
}
