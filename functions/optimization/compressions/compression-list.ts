import * as z from 'zod';
import { reachesProject } from '../../../shared/data/accounts/token-scope.ts';
import type { OptimizationKind } from '../../../shared/data/jobs/job.ts';
import { listCompressions } from '../../../shared/data/models/compression.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { answerList, paging } from '../../../shared/http/definition/pagination.ts';
import { withQueuePosition } from '../../../shared/jobs/waiting-queue.ts';
import { compressionAnswers, showCompression } from './compression-answer.ts';

/** The endpoint that lists all compressions of an operation. */
export const compressionList = (kind: OptimizationKind) =>
  defineEndpoint({
    ...words[kind],
    method: 'GET',
    path: `/optimization/${kind}/strategies`,
    allow: 'viewer',
    right: 'read',
    keepsToProjects: true,
    needs: { records: readRecords },
    input: { query: z.strictObject(paging) },
    work: 'page: the limit of every list',
    output: { 200: z.array(compressionAnswers[kind]) },

    handle({ query }, { records, settings, now, caller }) {
      const at = now();
      return answerList(query, {
        async fetch(page) {
          const found = await listCompressions(records, kind, page);
          const reached = found.items.filter(({ project_id }) => reachesProject(caller, project_id));
          return { ...found, items: await withQueuePosition(records, settings.limits, reached) };
        },
        keyOf: ({ strategy_id }) => strategy_id,
        show: (compression) => showCompression(compression, at),
      });
    },
  });

const words = {
  prune: { name: 'listPruneStrategies', summary: 'All pruning strategies, newest first' },
  quantize: { name: 'listQuantizeStrategies', summary: 'All quantization strategies, newest first' },
} as const;
