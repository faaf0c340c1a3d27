import * as z from 'zod';
import type { OptimizationKind } from '../../../shared/data/jobs/job.ts';
import { isFinal } from '../../../shared/data/jobs/job-status.ts';
import { markJobs, readRecords } from '../../../shared/data/table/needs.ts';
import { answerLog, LogAnswer, logQuery } from '../../../shared/experiments/answer-log.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { compressionPath, requireReachedCompression } from './compression-answer.ts';

/** The endpoint that reads the log of a compression. */
export const compressionLogs = (kind: OptimizationKind) =>
  defineEndpoint({
    ...words[kind],
    method: 'GET',
    path: `/optimization/${kind}/strategies/{strategy_id}/logs`,
    description:
      'Returns JSON or plain text, depending on `Accept`. While the job runs there is always a next page, so clients can follow the cursor; a missing Link header means that the log is complete.',
    allow: 'viewer',
    right: 'read',
    keepsToProjects: true,
    needs: { records: readRecords, watch: markJobs },
    input: { path: compressionPath, query: z.strictObject(logQuery) },
    work: 'page: 3 MB of lines, or the last 10,000',
    writes: 'marks the lease of a running job, which then sends its lines at once',
    output: { 200: LogAnswer },

    handle({ path: { strategy_id }, query }, { records, watch, header, now, caller }) {
      return answerLog(
        { records, watch },
        {
          now: now(),
          job_id: strategy_id,
          query,
          accept: header('accept'),
          isComplete: async () => {
            const { status } = await requireReachedCompression(records, caller, kind, strategy_id);
            return isFinal(status);
          },
        },
      );
    },
  });

const words = {
  prune: { name: 'readPruneLogs', summary: 'Log of a pruning, oldest line first' },
  quantize: { name: 'readQuantizeLogs', summary: 'Log of a quantization, oldest line first' },
} as const;
