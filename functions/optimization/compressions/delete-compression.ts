import * as z from 'zod';
import { writeObjects } from '../../../shared/aws/needs.ts';
import { Ulid } from '../../../shared/core/formats.ts';
import { within } from '../../../shared/core/needs.ts';
import { notFound, ServiceError } from '../../../shared/core/service-error.ts';
import type { OptimizationKind } from '../../../shared/data/jobs/job.ts';
import {
  compressionRemains,
  removeCompression,
  requireCompressionToRemove,
} from '../../../shared/data/models/compression.ts';
import { findServing } from '../../../shared/data/models/serving.ts';
import { newPurge, recordPurge } from '../../../shared/data/projects/purge.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { ConditionFailedError } from '../../../shared/data/table/write-label.ts';
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
      const serving = await findServing(records, compression.model_name);
      if (serving !== undefined && Object.hasOwn(serving.versions, strategy_id)) {
        const { model_name } = serving;
        const detail = `The result of this strategy is served as a version of ${model_name}. Remove it with DELETE /optimization/models/${model_name}/serving/versions/${strategy_id} first.`;
        throw new ServiceError('conflict', detail);
      }
      const { result } = compression;
      const deleted = { objects: result.length, bytes: result.reduce((sum, { size }) => sum + size, 0) };
      const purge = newPurge(context, compressionRemains(compression));
      try {
        await records.write(removeCompression(compression, removable), recordPurge(purge));
      } catch (error) {
        throw error instanceof ConditionFailedError ? notFound(`${kind} strategy`, strategy_id) : error;
      }
      await purgeInRequest(context, purge);
      return { strategy_id, deleted };
    },
  });
