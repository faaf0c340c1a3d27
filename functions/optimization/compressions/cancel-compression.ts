import { controlBatch } from '../../../shared/aws/needs.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import type { OptimizationKind } from '../../../shared/data/jobs/job.ts';
import { requireCompression } from '../../../shared/data/models/compression.ts';
import { readVariablesKey } from '../../../shared/data/projects/variable.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { cancelJob } from '../../../shared/jobs/cancellation.ts';
import { startWaitingInRequest } from '../../../shared/jobs/waiting-queue.ts';
import {
  compressionAnswers,
  compressionPath,
  requireOwnCompression,
  showCompression,
} from './compression-answer.ts';

const words = {
  prune: { name: 'cancelPruneStrategy', summary: 'Cancel a pruning' },
  quantize: { name: 'cancelQuantizeStrategy', summary: 'Cancel a quantization' },
} as const;

/** The endpoint that cancels a compression. */
export const cancelCompressionEndpoint = (kind: OptimizationKind) =>
  defineEndpoint({
    ...words[kind],
    method: 'POST',
    path: `/optimization/${kind}/strategies/{strategy_id}/cancel`,
    description: 'Its job stops at once. Its log is kept.',
    allow: 'developer',
    right: 'run',
    keepsToProjects: true,
    needs: { records: writeRecords, batch: controlBatch, keys: readVariablesKey },
    input: { path: compressionPath },
    repeatable: true,
    output: { 200: compressionAnswers[kind] },
    problems: ['conflict'],
    etag: true,

    async handle({ path: { strategy_id } }, { records, batch, keys, settings, now, caller, log }) {
      const found = await requireOwnCompression(records, caller, kind, strategy_id);
      const cancelled = await cancelJob(records, batch, settings, found, {
        by: caller.username,
        now: now(),
      });
      await startWaitingInRequest({ records, batch, keys, settings, now }, found, log);
      const compression = await requireCompression(records, kind, strategy_id);
      if (!cancelled && compression.status !== 'CANCELLED') {
        throw new ServiceError('conflict', `The strategy has already ended: ${compression.status}.`);
      }
      return Reply.json(showCompression(compression, now()), { version: compression.version });
    },
  });
