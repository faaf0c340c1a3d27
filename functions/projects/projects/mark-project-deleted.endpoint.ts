import * as z from 'zod';
import { Timestamp, Ulid } from '../../../shared/core/formats.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { changeInProject } from '../../../shared/data/projects/change-in-project.ts';
import { readCounters, updateProject } from '../../../shared/data/projects/project.ts';
import { retain, retainedUntil } from '../../../shared/data/projects/purge.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';

export const endpoint = defineEndpoint({
  name: 'markProjectDeleted',
  method: 'POST',
  path: '/projects/{project_id}/delete',
  summary: 'Delete a project that can be restored for 30 days',
  description:
    'The list of projects leaves it out, except with `deleted=true`. It can be read, but not changed. After 30 days it is removed with everything in it. Until then POST …/restore brings it back. DELETE of the project removes it at once and for ever.',
  allow: 'developer',
  project: 'restore',
  needs: { records: writeRecords },
  input: { path: projectPath },
  repeatable: true,
  output: {
    200: z.object({
      project_id: Ulid,
      until: Timestamp.describe('Time until which it can be restored.'),
    }),
  },
  problems: ['conflict'],

  handle(_, context) {
    const { records, now } = context;
    return changeInProject(context, async (present) => {
      const { project_id } = present;
      if (present.deleted_at !== undefined)
        return { project_id, until: retainedUntil(present.deleted_at).toISOString() };
      const { unfinished } = await readCounters(records, project_id);
      if (unfinished > 0)
        throw new ServiceError(
          'conflict',
          unfinished === 1
            ? 'The project has 1 training that has not ended. Cancel it before you delete the project.'
            : `The project has ${unfinished} trainings that have not ended. Cancel them before you delete the project.`,
        );
      const at = now();
      const deleted_at = at.toISOString();
      // The purge is scheduled before the mark, so every mark has a purge.
      await records.write(...retain({ project_id, experiment_id: null, deleted_at }));
      await updateProject(records, present, { deleted_at }, at);
      return { project_id, until: retainedUntil(deleted_at).toISOString() };
    });
  },
});
