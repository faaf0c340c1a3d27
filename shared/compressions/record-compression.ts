import { badRequest, faultsOf, notFound, type ParameterFault, ServiceError } from '../core/service-error.ts';
import { type Compression, newCompressionId, putCompression } from '../data/models/compression.ts';
import { findModel, modelExists, type ReadyModel } from '../data/models/model.ts';
import type { TableWriter } from '../data/table/table.ts';
import type { ConditionFailedError, WriteLabel } from '../data/table/write-label.ts';
import type { Ambient, BegunBy, Caller } from '../http/definition/endpoint-context.ts';
import { type Admitted, admitJob, newJobFields } from '../jobs/admission.ts';
import { requireBudget } from '../jobs/budget.ts';
import { checkLimits, fargateSize, type JobSize } from '../jobs/size.ts';
import { possibleCapacity } from '../jobs/spot/capacity.ts';

/**
 * Record a compression of a model in its current state.
 * @param of the model, its project, and faults that are already known
 */
export async function recordCompression(
  compressionRequest: CompressionRequest,
  of: { model: ReadyModel; project_id: string | null; faults?: readonly ParameterFault[] },
  context: RecordContext,
): Promise<Admitted<Compression>> {
  const { records, newId, settings, idempotencyWrites } = context;
  const { model, project_id, faults = [] } = of;
  const strategy_id = await newCompressionId(compressionRequest.request.operation, records, newId());
  const compression = {
    ...newCompression(strategy_id, compressionRequest, model, context),
    ...(project_id !== null && { project_id }),
  };
  const size = { timeout: compressionRequest.timeout, vcpus: compression.vcpus };
  refuseTogether(
    [...faults, ...faultsOf(() => requireBudget(compression.budget, compression, 'query', 'budget'))],
    faultsOf(() => checkLimits(size, settings.limits)),
    await takenName(records, compression.result_name),
  );
  const writesOf = (record: Compression) => [
    modelExists(model),
    putCompression(record),
    ...idempotencyWrites(strategy_id),
  ];
  const refusal = (error: ConditionFailedError) =>
    context.unchanged?.failedIn(error) ? error : notFound('model', compressionRequest.model_name);
  return admitJob(compression, writesOf, refusal, context);
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

export type RecordContext = Pick<Ambient, 'now' | 'newId' | 'settings' | 'idempotencyWrites'> & {
  records: TableWriter<'records'>;
  caller: BegunBy & Pick<Caller, 'username'>;
  /** Label of a condition of the further writes. The error is thrown as it is if it fails. */
  unchanged?: WriteLabel;
};

function newCompression(
  strategy_id: string,
  compressionRequest: CompressionRequest,
  { model_name, model_id, digest, files, shapes }: ReadyModel,
  context: RecordContext,
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
