import * as z from 'zod';
import { Ulid } from '../../../shared/core/formats.ts';
import { requireUnreported } from '../../../shared/data/projects/report.ts';
import { hasEnded } from '../../../shared/data/sweeps/has-ended.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { flag } from '../../../shared/http/definition/parameters.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { changeSweep, decidingNeeds, sweepPath } from './sweep.ts';

export const endpoint = defineEndpoint({
  name: 'deleteSweep',
  method: 'DELETE',
  path: '/projects/{project_id}/sweeps/{sweep_id}',
  summary: 'Delete a sweep',
  description:
    'Its running experiments are cancelled. Its experiments stay, unless `experiments` is `true`: then they go with it once they have ended.',
  allow: 'developer',
  project: 'developer',
  needs: decidingNeeds,
  input: {
    path: sweepPath,
    query: z.strictObject({
      experiments: flag
        .default(false)
        .describe('Whether to delete its experiments, too: `true` or `false`. Default: `false`.'),
    }),
  },
  work: 'page: removes experiments for 12 s; the reconciler removes the others',
  output: {
    200: z.object({
      sweep_id: Ulid,
      cancelled: z.number().int().describe('Number of its experiments that still ran.'),
    }),
  },
  problems: ['conflict', 'precondition-failed'],

  async handle({ path, query }, context) {
    let cancelled = 0;
    await changeSweep(context, path, async (sweep) => {
      requirePrecondition(context, sweep.version);
      await requireUnreported(context.records, path.project_id, { sweep });
      cancelled = sweep.running.length;
      return {
        ...sweep,
        ...(!hasEnded(sweep) && { status: 'CANCELLED' as const, status_reason: 'It was deleted.' }),
        cancelled_by: sweep.cancelled_by ?? context.caller.username,
        deleting: query.experiments ? 'experiments' : 'sweep',
      };
    });
    return { sweep_id: path.sweep_id, cancelled };
  },
});
