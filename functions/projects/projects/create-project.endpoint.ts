import * as z from 'zod';
import { readCriterion } from '../../../shared/data/projects/inferred-criterion.ts';
import {
  createProject,
  newProjectId,
  type Project,
  requireProject,
} from '../../../shared/data/projects/project.ts';
import {
  ProjectDescription,
  ProjectName,
  ProjectTask,
  ProjectType,
} from '../../../shared/data/projects/project-rules.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { ProjectAnswer, showProject } from './project-answer.ts';

const show = async (records: TableReader<'records'>, project: Project) =>
  Reply.json(showProject(project, await readCriterion(records, project.project_id)), {
    version: project.version,
  });

export const endpoint = defineEndpoint({
  name: 'createProject',
  method: 'POST',
  path: '/projects/',
  summary: 'Create a project',
  allow: 'developer',
  right: 'record',
  audit: { fields: ['project-name', 'project-type', 'project-task'] },
  needs: { records: writeRecords },
  input: {
    query: z.strictObject({
      'project-name': ProjectName.describe('Display name, such as `Handwritten digits`.'),
      'project-description': ProjectDescription.describe(
        'Description of the project; may have several lines.',
      ),
      'project-type': ProjectType.describe(
        'Kind of the data or of the model, in your own words, such as `image`.',
      ),
      'project-task': ProjectTask.describe(
        'Task of the model, such as `classification`. GET /projects/criteria lists the tasks that determine the ranking of experiments. For any other task, the first run that reports a metric determines the ranking.',
      ),
    }),
  },
  output: { 200: ProjectAnswer },
  etag: true,
  idempotent: {
    kind: 'creates',
    table: 'records',
    replayCreated: async (project_id, { records }) =>
      show(records, await requireProject(records, project_id)),
  },

  async handle({ query }, { records, caller, newId, now, idempotencyWrites, noteAudit }) {
    const created_at = now().toISOString();
    const project = {
      project_id: await newProjectId(records, newId()),
      project_name: query['project-name'],
      project_description: query['project-description'],
      project_type: query['project-type'],
      project_task: query['project-task'],
      owner: caller.username,
      owner_id: caller.user_id,
      created_at,
      updated_at: created_at,
      version: 1,
    };
    noteAudit({ project_id: project.project_id });
    await createProject(records, project, idempotencyWrites(project.project_id));
    return show(records, project);
  },
});
