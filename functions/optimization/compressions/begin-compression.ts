import {
  type CompressionRequest,
  type RecordContext,
  recordCompression,
} from '../../../shared/compressions/record-compression.ts';
import { faultsOf } from '../../../shared/core/service-error.ts';
import { requireReachedProject } from '../../../shared/data/accounts/token-scope.ts';
import type { OptimizationKind } from '../../../shared/data/jobs/job.ts';
import { type Compression, requireCompression } from '../../../shared/data/models/compression.ts';
import { requireReadyModel } from '../../../shared/data/models/model.ts';
import type { Caller } from '../../../shared/http/definition/endpoint-context.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import type { Admitted, Submitting } from '../../../shared/jobs/admission.ts';
import { placeOneInLine } from '../../../shared/jobs/waiting-queue.ts';
import { requireOwn } from '../models/change-model.ts';
import { requireShapesOf } from '../models/model-request.ts';
import { projectOf } from '../models/project-of.ts';

/** Record a compression that a caller asks for, and pin the current state of the model. */
export async function beginCompression(
  compressionRequest: CompressionRequest,
  context: Omit<RecordContext, 'caller'> & { caller: Caller },
): Promise<Admitted<Compression>> {
  const { records, caller } = context;
  const model = await requireReadyModel(records, compressionRequest.model_name);
  requireOwn(model, caller);
  const project_id = await projectOf(records, model);
  requireReachedProject(caller, project_id);
  const faults = faultsOf(() => requireShapesOf(model.summary, compressionRequest));
  return recordCompression(compressionRequest, { model, project_id, faults }, context);
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
