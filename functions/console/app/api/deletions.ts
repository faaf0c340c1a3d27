import type { RowOf } from '../../../../shared/client/route.ts';
import type { endpoint as deleteExperiments } from '../../../experiments/records/delete-experiments.endpoint.ts';
import type { endpoint as restoreExperiments } from '../../../experiments/records/restore-experiments.endpoint.ts';
import type { endpoint as listExperiments } from '../../../experiments/search/list-experiments.endpoint.ts';
import type { endpoint as listProjects } from '../../../projects/projects/list-projects.endpoint.ts';
import type { endpoint as markProjectDeleted } from '../../../projects/projects/mark-project-deleted.endpoint.ts';
import type { endpoint as restoreProjectEndpoint } from '../../../projects/projects/restore-project.endpoint.ts';
import { all, call } from './calls.ts';

/** Maximum number of experiments of a request. */
const atOnce = 100;

function* inParts(ids: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < ids.length; at += atOnce) yield ids.slice(at, at + atOnce);
}

/** Delete experiments for 30 days. Return the IDs of the deleted ones, of those that have not ended, and that a report shows. */
export async function deleteRuns(
  project_id: string,
  ids: readonly string[],
): Promise<{ deleted: string[]; unfinished: string[]; shown: string[] }> {
  const found = { deleted: [] as string[], unfinished: [] as string[], shown: [] as string[] };
  for (const experiment_ids of inParts(ids)) {
    const { deleted, unfinished, shown } = await call<typeof deleteExperiments>(
      'POST /projects/{project_id}/experiments/delete',
      { path: { project_id }, body: { experiment_ids: [...experiment_ids] } },
    );
    found.deleted.push(...deleted);
    found.unfinished.push(...unfinished);
    found.shown.push(...shown);
  }
  return found;
}

/** Restore deleted experiments. */
export async function restoreRuns(project_id: string, ids: readonly string[]): Promise<void> {
  for (const experiment_ids of inParts(ids))
    await call<typeof restoreExperiments>('POST /projects/{project_id}/experiments/restore', {
      path: { project_id },
      body: { experiment_ids: [...experiment_ids] },
    });
}

export type DeletedRun = RowOf<typeof listExperiments>;

export const loadDeletedRuns = (project_id: string): Promise<DeletedRun[]> =>
  all<typeof listExperiments>('GET /projects/{project_id}/experiments', {
    path: { project_id },
    query: { deleted: true, fields: 'experiment_id,project_id,name,status,outcome,created_at,deleted_at' },
  });

export const deleteProjectFor30Days = (project_id: string) =>
  call<typeof markProjectDeleted>('POST /projects/{project_id}/delete', { path: { project_id } });
export const restoreProject = (project_id: string) =>
  call<typeof restoreProjectEndpoint>('POST /projects/{project_id}/restore', { path: { project_id } });
export const loadDeletedProjects = () =>
  all<typeof listProjects>('GET /projects/', { query: { deleted: true, member: true } });
