import { ProblemError } from '../../../../shared/client/problem-error.ts';
import type { AnswerOf, RequestOf, RowOf } from '../../../../shared/client/route.ts';
import type { endpoint as compareExperiments } from '../../../experiments/compare/compare-experiments.endpoint.ts';
import type { endpoint as listLive } from '../../../experiments/live/list-live-experiments.endpoint.ts';
import type { endpoint as listExperiments } from '../../../experiments/search/list-experiments.endpoint.ts';
import type { endpoint as createProject } from '../../../projects/projects/create-project.endpoint.ts';
import type { endpoint as listCriteria } from '../../../projects/projects/list-criteria.endpoint.ts';
import type { endpoint as listProjects } from '../../../projects/projects/list-projects.endpoint.ts';
import type { endpoint as readProject } from '../../../projects/projects/read-project.endpoint.ts';
import type { endpoint as updateProject } from '../../../projects/projects/update-project.endpoint.ts';
import { type ProjectDetails, rowFields } from './answers.ts';
import { all, call, open, page } from './calls.ts';

/** A project with the numbers of its experiments. */
export type ListedProject = RowOf<typeof listProjects>;

export const loadProjects = (): Promise<ListedProject[]> => all<typeof listProjects>('GET /projects/');

export const loadProject = async (project_id: string): Promise<ProjectDetails> =>
  (await call<typeof readProject>('GET /projects/{project_id}', { path: { project_id } })) as ProjectDetails;

export const loadCriteria = (): Promise<AnswerOf<typeof listCriteria>> =>
  call<typeof listCriteria>('GET /projects/criteria');

export const newProject = (fields: { name: string; description: string; type: string; task: string }) =>
  call<typeof createProject>('POST /projects/', {
    query: {
      'project-name': fields.name,
      'project-description': fields.description,
      'project-type': fields.type,
      'project-task': fields.task,
    },
  });

export type ProjectChange = NonNullable<RequestOf<typeof updateProject>['body']>;

/**
 * Change a project if it has not changed since `updated_at`.
 *
 * @returns the present project if another user changed it first; undefined after the change
 */
export async function changeProject(
  project_id: string,
  body: ProjectChange,
  updated_at: string,
): Promise<ProjectDetails | undefined> {
  const path = { project_id };
  const response = await open<typeof readProject>('GET /projects/{project_id}', {
    path,
    headers: { Accept: 'application/json' },
  });
  const present = (await response.json()) as ProjectDetails;
  if (present.updated_at !== updated_at) return present;
  try {
    await call<typeof updateProject>('PATCH /projects/{project_id}', {
      path,
      body,
      headers: { 'If-Match': response.headers.get('etag') ?? '*' },
    });
    return undefined;
  } catch (error) {
    if (error instanceof ProblemError && error.status === 412) return loadProject(project_id);
    throw error;
  }
}

/** Set the metric that ranks a project's experiments, whatever else was changed. */
export const setCriterion = (
  project_id: string,
  { name, goal }: { name: string; goal: 'maximize' | 'minimize' },
) =>
  call<typeof updateProject>('PATCH /projects/{project_id}', {
    path: { project_id },
    body: { criterion: name, criterion_goal: goal },
    headers: { 'If-Match': '*' },
  });

/** Change the saved views of a project. Other users' changes at the same moment are kept. */
export async function setViews(
  project_id: string,
  change: (views: readonly TableView[]) => TableView[],
): Promise<void> {
  const path = { project_id };
  for (let tries = maxTries; ; tries -= 1) {
    const response = await open<typeof readProject>('GET /projects/{project_id}', {
      path,
      headers: { Accept: 'application/json' },
    });
    const { views } = (await response.json()) as ProjectDetails;
    try {
      await call<typeof updateProject>('PATCH /projects/{project_id}', {
        path,
        body: { views: change(views) },
        headers: { 'If-Match': response.headers.get('etag') ?? '*' },
      });
      return;
    } catch (error) {
      if (!(error instanceof ProblemError) || error.status !== 412 || tries === 1) throw error;
    }
  }
}

type TableView = ProjectDetails['views'][number];
/** Maximum number of tries of a change that others change too. */
const maxTries = 4;

/** Set the experiment that the others of a project are compared with; null removes it. */
export const setBaseline = (project_id: string, baseline: string | null) =>
  call<typeof updateProject>('PATCH /projects/{project_id}', {
    path: { project_id },
    body: { baseline },
    headers: { 'If-Match': '*' },
  });

/** @param next of the page before it, whose limit and fields may have been others */
export function experimentsPage(project_id: string, limit: number, next?: string, fields = rowFields) {
  const query = new URLSearchParams(next);
  query.set('limit', String(limit));
  query.set('fields', fields);
  return page<typeof listExperiments>(
    'GET /projects/{project_id}/experiments',
    { path: { project_id } },
    query.toString(),
  );
}

/** Ask for the newest experiments of a project, and for older ones by ID, once they have changed. */
export const liveExperiments = (
  project_id: string,
  { ids, values }: { ids: readonly string[]; values: string | undefined },
  after: string | undefined,
  signal: AbortSignal,
): Promise<AnswerOf<typeof listLive>> =>
  call<typeof listLive>('GET /projects/{project_id}/experiments/live', {
    path: { project_id },
    query: {
      ...(ids.length > 0 && { experiments: ids.join() }),
      ...(after !== undefined && { after }),
      ...(values !== undefined && { values }),
    },
    signal,
  });

/** Maximum number of experiments in a request by ID, because a filter has at most 6,000 characters. */
export const maxById = 100;

/** Load experiments of a project by ID. Deleted ones are missing. */
export const experimentsById = (project_id: string, ids: readonly string[], fields = rowFields) =>
  page<typeof listExperiments>('GET /projects/{project_id}/experiments', {
    path: { project_id },
    query: {
      limit: maxById,
      filter: `experiment_id IN (${ids.map((id) => `'${id}'`).join(', ')})`,
      fields,
    },
  });

/** Load the newest experiments of a project, optionally only those whose name contains a text. */
export const findExperiments = (project_id: string, name: string, fields = 'experiment_id,name') =>
  page<typeof listExperiments>('GET /projects/{project_id}/experiments', {
    path: { project_id },
    query: {
      limit: 50,
      fields,
      ...(name.trim() !== '' && { filter: `name ILIKE '%${name.trim().replaceAll("'", "''")}%'` }),
    },
  });

export type Comparison = AnswerOf<typeof compareExperiments>;

/** Load the differences between 2 to 50 experiments. */
export const loadComparison = (
  project_id: string,
  ids: readonly string[],
  { changed_files }: { changed_files: boolean },
): Promise<Comparison> =>
  call<typeof compareExperiments>('GET /projects/{project_id}/compare', {
    path: { project_id },
    query: { experiments: ids.join(), changed_files },
  });
