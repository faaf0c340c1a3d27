import { controlBatch } from '../../../shared/aws/needs.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import type { OptimizationKind } from '../../../shared/data/jobs/job.ts';
import { requireStrategy } from '../../../shared/data/models/strategy.ts';
import { readVariablesKey } from '../../../shared/data/projects/variable.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { cancelJob } from '../../../shared/jobs/cancellation.ts';
import { startWaitingInRequest } from '../../../shared/jobs/line.ts';
import { requireOwnStrategy, showStrategy, strategyAnswers, strategyPath } from './strategy-answer.ts';

const words = {
  prune: { name: 'cancelPruneStrategy', summary: 'Cancel a pruning' },
  quantize: { name: 'cancelQuantizeStrategy', summary: 'Cancel a quantization' },
} as const;

/** The endpoint that cancels a strategy. */
export const cancelStrategyEndpoint = (kind: OptimizationKind) =>
  defineEndpoint({
    ...words[kind],
    method: 'POST',
    path: `/optimization/${kind}/strategies/{strategy_id}/cancel`,
    description: 'Its job stops at once; its log is kept.',
    allow: 'developer',
    needs: { records: writeRecords, batch: controlBatch, keys: readVariablesKey },
    input: { path: strategyPath },
    output: { 200: strategyAnswers[kind] },
    problems: ['conflict'],
    etag: true,

    async handle({ path: { strategy_id } }, { records, batch, keys, settings, now, caller, log }) {
      const found = await requireOwnStrategy(records, caller, kind, strategy_id);
      const cancelled = await cancelJob(records, batch, settings, found, {
        by: caller.username,
        now: now(),
      });
      await startWaitingInRequest({ records, batch, keys, settings, now }, found, log);
      const strategy = await requireStrategy(records, kind, strategy_id);
      if (!cancelled && strategy.status !== 'CANCELLED') {
        throw new ServiceError('conflict', `The strategy has ended already: ${strategy.status}.`);
      }
      return Reply.json(showStrategy(strategy, now()), { version: strategy.version });
    },
  });
