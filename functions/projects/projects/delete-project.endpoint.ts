import * as z from 'zod';
import { Ulid } from '../../../shared/core/formats.ts';
import { notFound } from '../../../shared/core/service-error.ts';
import { changeInProject } from '../../../shared/data/projects/change-in-project.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { removeWholeProject } from '../../../shared/purge/remove-project.ts';

const count = z.number().int();

export const endpoint = defineEndpoint({
  name: 'deleteProject',
  method: 'DELETE',
  path: '/projects/{project_id}',
  summary: 'Delete a project with everything in it',
  description:
    'The project disappears from every read at once. Its jobs are cancelled, and its objects and records are removed in the background, even after a crash.',
  allow: 'developer',
  project: 'remove',
  needs: { records: writeRecords },
  input: { path: projectPath },
  work: 'later: a purge',
  output: {
    200: z.object({
      project_id: Ulid,
      deleted: z.object({ configs: count, experiments: count, objects: count, bytes: count }),
      cancelled_jobs: count,
    }),
  },
  problems: ['conflict', 'precondition-failed'],

  handle(_, context) {
    return changeInProject(context, async (present) => {
      requirePrecondition(context, present.version);
      const { project_id } = present;
      const held = await removeWholeProject(context, present);
      if (held === undefined) throw notFound('project', project_id);
      const { unfinished, ...deleted } = held;
      return { project_id, deleted, cancelled_jobs: unfinished };
    });
  },
});
