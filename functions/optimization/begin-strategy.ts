import type { BatchControl } from '../../shared/aws/batch.ts';
import { beginJob } from '../../shared/data/job.ts';
import { findModel, modelExists, type ReadyModel, requireReadyModel } from '../../shared/data/model.ts';
import { putStrategy, type Strategy, strategyJob } from '../../shared/data/strategy.ts';
import { ConditionFailed, type TableWriter } from '../../shared/data/table.ts';
import type { Ambient, Caller } from '../../shared/endpoint/definition.ts';
import { notFound, Problem } from '../../shared/endpoint/problem.ts';
import { checkLimits, limitReached } from '../projects/job-limits.ts';
import { fargateSize } from '../projects/job-size.ts';
import { requireOwn } from './own-model.ts';
import { requireShapesOf } from './requested-shapes.ts';

/** What a request for a strategy comes down to. */
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

export type Begun = Ambient & {
  records: TableWriter<'records'>;
  batch: BatchControl;
  caller: Caller;
};

/** What a strategy gets unless the request says otherwise: MiB and seconds. */
const usual = { vcpus: 2, memory: 4096, timeout: 3600 };

const sizeOf = ({ vcpus, memory }: StrategyRequest) =>
  vcpus === undefined && memory === undefined ? { ...usual, gpus: 0 } : fargateSize({ vcpus, memory });

/** Position of the writes that begin the job among those that begin a strategy. */
const jobWrites = 2;

function strategyOf(
  asked: StrategyRequest,
  { model_name, model_id, digest, files, shapes }: ReadyModel,
  { caller, newId, now, settings }: Begun,
): Strategy {
  const created_at = now().toISOString();
  const { vcpus, memory, gpus } = sizeOf(asked);
  return {
    strategy_id: newId(),
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
    status: 'CREATED',
    status_rank: 0,
    status_reason: 'Accepted; on its way to AWS Batch.',
    attempt: 0,
    batch_attempt: 0,
    attempts: [],
    batch_job_id: null,
    depends_on: null,
    user_id: caller.user_id,
    created_at,
    started_at: null,
    stopped_at: null,
    cancel_requested_at: null,
    checked_at: created_at,
    exit_code: null,
    signal: null,
    vcpus,
    memory,
    gpus,
    nodes: 1,
    timeout: asked.timeout ?? Math.min(usual.timeout, settings.limits.jobSeconds),
    version: 1,
  };
}

/**
 * Records a strategy, which pins the model as it is. From then on it will reach an end: should this process die before
 * it is handed to Batch, the reconciler submits it.
 */
export async function beginStrategy(asked: StrategyRequest, context: Begun): Promise<Strategy> {
  const { records, settings, made, caller } = context;
  const model = await requireReadyModel(records, asked.model_name);
  requireOwn(model, caller);
  requireShapesOf(model, asked);
  const strategy = strategyOf(asked, model, context);
  checkLimits({ timeout: asked.timeout, vcpus: strategy.vcpus }, settings.limits);
  const { result_name } = strategy;
  if (result_name !== null && (await findModel(records, result_name)) !== undefined) {
    throw new Problem('conflict', `There is a model ${result_name} already; take another result_name.`);
  }
  try {
    await records.write(
      modelExists(model),
      putStrategy(strategy),
      ...beginJob(strategyJob(strategy), settings.limits),
      ...made(strategy.strategy_id),
    );
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    throw limitReached(error, jobWrites, settings.limits) ?? notFound('model', asked.model_name);
  }
  return strategy;
}
