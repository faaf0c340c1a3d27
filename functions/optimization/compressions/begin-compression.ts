import type { BatchControl } from '../../../shared/aws/batch.ts';
import {
  badRequest,
  faultsOf,
  notFound,
  type ParameterFault,
  ServiceError,
} from '../../../shared/core/service-error.ts';
import { requireReachedProject } from '../../../shared/data/accounts/token-scope.ts';
import type { OptimizationKind } from '../../../shared/data/jobs/job.ts';
import {
  type Compression,
  newCompressionId,
  putCompression,
  requireCompression,
} from '../../../shared/data/models/compression.ts';
import {
  findModel,
  modelExists,
  type ReadyModel,
  requireReadyModel,
} from '../../../shared/data/models/model.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import type { Ambient, Caller } from '../../../shared/http/definition/endpoint-context.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { type Admitted, admitJob, newJobFields, type Submitting } from '../../../shared/jobs/admission.ts';
import { requireBudget } from '../../../shared/jobs/budget.ts';
import { checkLimits, fargateSize, type JobSize } from '../../../shared/jobs/size.ts';
import { possibleCapacity } from '../../../shared/jobs/spot/capacity.ts';
import { placeOneInLine } from '../../../shared/jobs/waiting-queue.ts';
import { requireOwn } from '../models/change-model.ts';
import { requireShapesOf } from '../models/model-request.ts';
import { projectOf } from '../models/project-of.ts';

/** Record a compression and pin the current state of the model. */
export async function beginCompression(
  compressionRequest: CompressionRequest,
  context: BeginContext,
): Promise<Admitted<Compression>> {
  const { records, newId, settings, idempotencyWrites, caller } = context;
  const model = await requireReadyModel(records, compressionRequest.model_name);
  requireOwn(model, caller);
  const strategy_id = await newCompressionId(compressionRequest.request.operation, records, newId());
  const project_id = await projectOf(records, model);
  requireReachedProject(caller, project_id);
  const compression = {
    ...newCompression(strategy_id, compressionRequest, model, context),
    ...(project_id !== null && { project_id }),
  };
  const size = { timeout: compressionRequest.timeout, vcpus: compression.vcpus };
  refuseTogether(
    [
      ...faultsOf(() => requireShapesOf(model.summary, compressionRequest)),
      ...faultsOf(() => requireBudget(compression.budget, compression, 'query', 'budget')),
    ],
    faultsOf(() => checkLimits(size, settings.limits)),
    await takenName(records, compression.result_name),
  );
  const writesOf = (record: Compression) => [
    modelExists(model),
    putCompression(record),
    ...idempotencyWrites(strategy_id),
  ];
  return admitJob(compression, writesOf, () => notFound('model', compressionRequest.model_name), context);
}

/** A requested compression, with defaults applied. */
export interface CompressionRequest {
  model_name: string;
  request: Compression['request'];
  inputs: string | null;
  outputs: string | null;
  result_name: string | undefined;
  vcpus: number | undefined;
  memory: number | undefined;
  timeout: number | undefined;
  budget: number | undefined;
}

export type BeginContext = Ambient & {
  records: TableWriter<'records'>;
  batch: BatchControl;
  caller: Caller;
};

function newCompression(
  strategy_id: string,
  compressionRequest: CompressionRequest,
  { model_name, model_id, digest, files, shapes }: ReadyModel,
  context: BeginContext,
): Compression {
  const { limits } = context.settings;
  const timeout = compressionRequest.timeout ?? Math.min(usual.timeout, limits.jobSeconds);
  const size = { ...sizeOf(compressionRequest), nodes: 1, timeout };
  const { operation: kind } = compressionRequest.request;
  const capacity = possibleCapacity(undefined, { kind, gpus: 0 }, context.settings);
  return {
    ...newJobFields(strategy_id, { size, isOnNodes: false, isImage: false, capacity }, context),
    strategy_id,
    kind,
    owner: context.caller.username,
    model_name,
    model_id,
    model_digest: digest,
    files,
    stored_shapes: shapes,
    request: compressionRequest.request,
    budget: compressionRequest.budget ?? null,
    inputs: compressionRequest.inputs,
    outputs: compressionRequest.outputs,
    result_name: compressionRequest.result_name ?? null,
    registered: null,
    progress: null,
    result: [],
    receipt_parts: 0,
  };
}

/** Default size and timeout of a compression: MiB and seconds. */
const usual = { vcpus: 2, memory: 4096, timeout: 3600 };

const sizeOf = ({ vcpus, memory }: CompressionRequest): JobSize =>
  vcpus === undefined && memory === undefined ? { ...usual, gpus: 0 } : fargateSize({ vcpus, memory });

/** Throw for all errors at once: 400, or 409 if the only error is that the result's name is taken. */
function refuseTogether(
  shapes: readonly ParameterFault[],
  limits: readonly ParameterFault[],
  taken: ParameterFault | undefined,
): void {
  const faults = [...shapes, ...limits];
  if (faults.length > 0) throw badRequest(taken === undefined ? faults : [...faults, taken]);
  if (taken !== undefined) throw new ServiceError('conflict', taken.message, { errors: [taken] });
}

async function takenName(
  records: TableWriter<'records'>,
  name: string | null,
): Promise<ParameterFault | undefined> {
  if (name === null || (await findModel(records, name)) === undefined) return undefined;
  const message = `A model named ${name} already exists; choose another result_name.`;
  return { in: 'query', name: 'result_name', message };
}

/** Functions that read and answer a recorded compression. */
export const compressionReplies = <T>(
  kind: OptimizationKind,
  show: Show<T>,
  { records, settings, now }: Submitting,
) => ({
  read: (strategy_id: string) => requireCompression(records, kind, strategy_id),
  async answer(compression: Compression): Promise<Reply<T>> {
    const placed = await placeOneInLine(records, settings.limits, compression);
    return Reply.json(show(placed, now()), { version: compression.version });
  },
});

type Show<T> = (compression: Compression, now: Date) => T;
