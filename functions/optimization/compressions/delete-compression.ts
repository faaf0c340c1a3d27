import * as z from 'zod';
import { writeObjects } from '../../../shared/aws/needs.ts';
import { Ulid } from '../../../shared/core/formats.ts';
import { within } from '../../../shared/core/needs.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import type { OptimizationKind } from '../../../shared/data/jobs/job.ts';
import {
  compressionRemains,
  removeCompression,
  requireCompressionToRemove,
} from '../../../shared/data/models/compression.ts';
import { findServing, sameServing } from '../../../shared/data/models/serving.ts';
import { newPurge, recordPurge } from '../../../shared/data/projects/purge.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { retryOnConflict } from '../../../shared/data/table/retry-on-conflict.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { purgeInRequest } from '../../../shared/purge/purge-in-request.ts';
import { compressionPath, requireOwn } from './compression-answer.ts';

const words = {
  prune: { name: 'deletePruneStrategy', summary: 'Delete a pruning that has ended, with its result and log' },
  quantize: {
    name: 'deleteQuantizeStrategy',
    summary: 'Delete a quantization that has ended, with its result and log',
  },
} as const;

/** The endpoint that deletes a compression. */
export const deleteCompressionEndpoint = (kind: OptimizationKind) =>
  defineEndpoint({
    ...words[kind],
    method: 'DELETE',
    path: `/optimization/${kind}/strategies/{strategy_id}`,
    description: 'A model registered from its result stays. A result that is served cannot be deleted.',
    allow: 'developer',
    needs: { records: writeRecords, objects: within(writeObjects, { prefixes: ['strategies/'] }) },
    input: { path: compressionPath },
    output: {
      200: z.object({
        strategy_id: Ulid,
        deleted: z.object({ objects: z.number().int(), bytes: z.number().int() }),
      }),
    },
    problems: ['conflict', 'precondition-failed'],

    async handle({ path: { strategy_id } }, context) {
      const { records, caller } = context;
      // Another caller may serve the result at the same moment; then it is read again, and refused.
      const { compression, purge } = await retryOnConflict(async () => {
        const { compression, hasEnded, removable } = await requireCompressionToRemove(
          records,
          kind,
          strategy_id,
        );
        requireOwn(compression, caller);
        requirePrecondition(context, compression.version);
        if (!hasEnded) {
          throw new ServiceError(
            'conflict',
            `The strategy is ${compression.status}. Cancel it before you delete it.`,
          );
        }
        const { model_name } = compression;
        // An unreadable record may lack the name.
        const isNamed = model_name !== '';
        const serving = isNamed ? await findServing(records, model_name) : undefined;
        if (serving !== undefined && Object.hasOwn(serving.versions, strategy_id)) {
          const detail = `The result of this strategy is served as a version of ${model_name}. Remove it with DELETE /optimization/models/${model_name}/serving/versions/${strategy_id} first.`;
          throw new ServiceError('conflict', detail);
        }
        const purge = newPurge(context, compressionRemains(compression));
        await records.write(
          removeCompression(compression, removable),
          recordPurge(purge),
          ...(isNamed ? [sameServing(model_name, serving)] : []),
        );
        return { compression, purge };
      });
      const { result } = compression;
      const deleted = { objects: result.length, bytes: result.reduce((sum, { size }) => sum + size, 0) };
      await purgeInRequest(context, purge);
      return { strategy_id, deleted };
    },
  });
