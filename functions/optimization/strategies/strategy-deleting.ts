import * as z from 'zod';
import { writeObjects } from '../../../shared/aws/needs.ts';
import { forSeconds } from '../../../shared/core/deadline.ts';
import { Ulid } from '../../../shared/core/formats.ts';
import { within } from '../../../shared/core/needs.ts';
import { notFound, ServiceError } from '../../../shared/core/service-error.ts';
import type { OptimizationKind } from '../../../shared/data/job.ts';
import { writeRecords } from '../../../shared/data/needs.ts';
import { recordPurge } from '../../../shared/data/purge.ts';
import { removeStrategy, requireStrategyToRemove, strategyRemains } from '../../../shared/data/strategy.ts';
import { ConditionFailedError } from '../../../shared/data/write-label.ts';
import { defineEndpoint } from '../../../shared/http/definition.ts';
import { requirePrecondition } from '../../../shared/http/precondition.ts';
import { runPurge } from '../../../shared/purge/run-purge.ts';
import { requireOwn } from './require-own-strategy.ts';
import { strategyPath } from './strategy-path.ts';

/** What is not removed by then waits for the purge event; a request has 29 s in all. */
const purgeSeconds = 10;

const words = {
  prune: { name: 'deletePruneStrategy', summary: 'Delete a pruning that has ended, with its result and log' },
  quantize: {
    name: 'deleteQuantizeStrategy',
    summary: 'Delete a quantization that has ended, with its result and log',
  },
} as const;

/** The deletion of a strategy. */
export const strategyDeleting = (kind: OptimizationKind) =>
  defineEndpoint({
    ...words[kind],
    method: 'DELETE',
    path: `/optimization/${kind}/strategies/{strategy_id}`,
    description: 'A model that its result was registered as stays.',
    allow: 'developer',
    needs: { records: writeRecords, objects: within(writeObjects, { prefixes: ['strategies/'] }) },
    input: { path: strategyPath },
    output: {
      200: z.object({
        strategy_id: Ulid,
        deleted: z.object({ objects: z.number().int(), bytes: z.number().int() }),
      }),
    },
    problems: ['conflict', 'precondition-failed'],

    async handle({ path: { strategy_id } }, context) {
      const { records, objects, caller, newId, now, log, header, expectedVersion } = context;
      const { strategy, hasEnded, removable } = await requireStrategyToRemove(records, kind, strategy_id);
      requireOwn(strategy, caller);
      requirePrecondition({ header, expectedVersion }, strategy.version);
      if (!hasEnded) {
        throw new ServiceError(
          'conflict',
          `The strategy is ${strategy.status}; cancel it before it is deleted.`,
        );
      }
      const { result } = strategy;
      const deleted = { objects: result.length, bytes: result.reduce((sum, { size }) => sum + size, 0) };
      const target = strategyRemains(strategy);
      const purge = { purge_id: newId(), created_at: now().toISOString(), again_at: null, target };
      try {
        await records.write(removeStrategy(strategy, removable), recordPurge(purge));
      } catch (error) {
        throw error instanceof ConditionFailedError ? notFound(`${kind} strategy`, strategy_id) : error;
      }
      try {
        await runPurge(records, objects, purge, forSeconds(purgeSeconds));
      } catch (error) {
        // The strategy is gone and the rest is on record, so the request has succeeded.
        log.warn('purge-later', {
          purge_id: purge.purge_id,
          error: error instanceof Error ? error.name : '',
        });
      }
      return { strategy_id, deleted };
    },
  });
