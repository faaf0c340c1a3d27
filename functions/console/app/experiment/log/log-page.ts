import type { endpoint as readLogs } from '../../../../experiments/records/read-logs.endpoint.ts';
import type { Experiment } from '../../api/answers.ts';
import { page } from '../../api/calls.ts';

/** Read a page of the log of a node. @param next of the page before it */
export const logPage = (
  { project_id, experiment_id }: Pick<Experiment, 'project_id' | 'experiment_id'>,
  node: number,
  asked: { limit?: number; line?: number; search?: string },
  next: string | undefined,
  signal?: AbortSignal,
) =>
  page<typeof readLogs>(
    'GET /projects/{project_id}/experiments/{experiment_id}/logs',
    {
      path: { project_id, experiment_id },
      query: { ...asked, ...(node > 0 && { node }) },
      ...(signal && { signal }),
    },
    next,
  );
