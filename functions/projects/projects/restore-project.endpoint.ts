import { changeInProject } from '../../../shared/data/projects/change-in-project.ts';
import { readCriterion } from '../../../shared/data/projects/inferred-criterion.ts';
import { updateProject } from '../../../shared/data/projects/project.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { ProjectAnswer, showProject } from './project-answer.ts';

export const endpoint = defineEndpoint({
  name: 'restoreProject',
  method: 'POST',
  path: '/projects/{project_id}/restore',
  summary: 'Restore a project that was deleted in the last 30 days',
  description:
    'Removes the deletion mark that POST …/delete or an MLflow client has set; the project is complete as before. Restoring a project that is not deleted changes nothing.',
  allow: 'developer',
  project: 'restore',
  needs: { records: writeRecords },
  input: { path: projectPath },
  repeatable: true,
  output: { 200: ProjectAnswer },
  problems: ['conflict'],

  handle(_, context) {
    const { records, now } = context;
    return changeInProject(context, async (present) => {
      const criterion = await readCriterion(records, present.project_id);
      if (present.deleted_at === undefined) return showProject(present, criterion);
      const at = now();
      await updateProject(records, present, { deleted_at: null }, at);
      const { deleted_at, ...restored } = present;
      return showProject({ ...restored, updated_at: at.toISOString() }, criterion);
    });
  },
});
