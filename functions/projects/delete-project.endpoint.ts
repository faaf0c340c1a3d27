import * as z from 'zod';
import { Ulid } from '../../shared/core/formats.ts';
import { notFound } from '../../shared/core/service-error.ts';
import { cataloguePartition } from '../../shared/data/catalogue-mark.ts';
import { changeInProject } from '../../shared/data/change-in-project.ts';
import { configPartitions } from '../../shared/data/config.ts';
import { environmentPartitions } from '../../shared/data/environment.ts';
import { loggedModelPartitions } from '../../shared/data/logged-model.ts';
import { writeRecords } from '../../shared/data/needs.ts';
import { countersKey, projectPrefix, removeProject, salvageCounters } from '../../shared/data/project.ts';
import { newPurge, recordPurge } from '../../shared/data/purge.ts';
import { trackingPartition } from '../../shared/data/tracking-key.ts';
import { uploadPartitions } from '../../shared/data/upload.ts';
import { variablesPartition } from '../../shared/data/variable.ts';
import { defineEndpoint } from '../../shared/http/definition.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { requirePrecondition } from '../../shared/http/precondition.ts';
import { projectPath } from '../../shared/http/project-path.ts';

const count = z.number().int();

export const endpoint = defineEndpoint({
  name: 'deleteProject',
  method: 'DELETE',
  path: '/projects/{project_id}',
  summary: 'Delete a project with everything in it',
  description:
    'It disappears from every read at once. Its jobs are cancelled and its objects and records removed in the background, also after a crash.',
  allow: 'developer',
  project: 'remove',
  needs: { records: writeRecords },
  input: { path: projectPath },
  output: {
    200: z.object({
      project_id: Ulid,
      deleted: z.object({ configs: count, experiments: count, objects: count, bytes: count }),
      cancelled_jobs: count,
    }),
  },
  problems: ['conflict', 'precondition-failed'],

  handle(_, context) {
    const { records } = context;
    return changeInProject(context, async (present) => {
      requirePrecondition(context, present.version);
      const { project_id } = present;
      const kept = await records.get(countersKey(project_id));
      if (kept === undefined) throw notFound('project', project_id);
      const { unfinished, ...deleted } = salvageCounters(kept);
      const partitions = [
        ...configPartitions(project_id),
        ...environmentPartitions(project_id),
        ...uploadPartitions(project_id),
        trackingPartition(project_id),
        ...loggedModelPartitions(project_id),
        cataloguePartition(project_id),
        variablesPartition(project_id),
        countersKey(project_id).pk,
      ].map((pk) => ({ pk }));
      const target = { partitions, prefixes: [projectPrefix(project_id)] };
      await records.write(
        ...removeProject(present),
        recordPurge({ ...newPurge(context, target), project_id }),
      );
      return { project_id, deleted, cancelled_jobs: unfinished };
    });
  },
});

export const handler = lambda(endpoint);
