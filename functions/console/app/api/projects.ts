import type { AnswerOf } from '../../../../shared/client/route.ts';
import type { endpoint as listExperiments } from '../../../experiments/list-experiments.endpoint.ts';
import type { endpoint as createProject } from '../../../projects/create-project.endpoint.ts';
import type { endpoint as deleteProject } from '../../../projects/delete-project.endpoint.ts';
import type { endpoint as listCriteria } from '../../../projects/list-criteria.endpoint.ts';
import type { endpoint as listProjects } from '../../../projects/list-projects.endpoint.ts';
import type { endpoint as readProject } from '../../../projects/read-project.endpoint.ts';
import type { Project, ProjectDetails } from './answers.ts';
import { all, call, page } from './calls.ts';

export const loadProjects = (): Promise<Project[]> => all<typeof listProjects>('GET /projects/');

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

export const removeProject = (project_id: string) =>
  call<typeof deleteProject>('DELETE /projects/{project_id}', { path: { project_id } });

export const experimentsPage = (project_id: string, limit: number, next?: string) =>
  page<typeof listExperiments>(
    'GET /projects/{project_id}/experiments',
    { path: { project_id }, query: { limit } },
    next,
  );
