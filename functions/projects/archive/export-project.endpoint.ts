import { writeProjectObjects } from '../../../shared/aws/needs.ts';
import { forSeconds } from '../../../shared/core/deadline.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { changeInProject } from '../../../shared/data/projects/change-in-project.ts';
import { countersKey, parseCounters } from '../../../shared/data/projects/project.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { mayRunInRequest, secondsInRequest } from '../../../shared/project-archive/archive-limits.ts';
import { runExport, startExport } from '../../../shared/project-archive/export/run-export.ts';
import { ExportAnswer, requireExport, showExport } from './export-answer.ts';

export const endpoint = defineEndpoint({
  name: 'exportProject',
  method: 'POST',
  path: '/projects/{project_id}/export',
  summary: 'Export a project as one archive',
  description:
    'Starts the export. The archive is a zip of JSON and files, with their digests. It contains the project, all versions of its configurations, its environment, its variables except secrets, sources, data sets, ended experiments with all their records, logged models, the versions of registered models that come from them, with aliases and tags, reports with the data of their frozen blocks, and schedules. It does not contain values of secrets, members (their accounts belong to a deployment), links, sweeps (their trials are experiments), packed environments, unfinished experiments (`unfinished` lists them), or models for pruning and quantization and their strategies (they belong to users). A small project is packed at once, a large one in the background; GET returns the progress. The archive is kept for a day.',
  allow: 'developer',
  project: 'owner',
  needs: { accounts: readUsers, records: writeRecords, objects: writeProjectObjects },
  input: { path: projectPath },
  work: 'later: an export, in steps',
  output: { 200: ExportAnswer },
  problems: ['conflict'],
  idempotent: {
    kind: 'creates',
    table: 'records',
    replayCreated: async (_, { records, project, now }) =>
      showExport(await requireExport(records, project.project_id, now())),
  },

  async handle({ path: { project_id } }, context) {
    const { accounts, records, objects, newId, now, log, idempotencyWrites } = context;
    const archive = { accounts, records, objects, newId, now };
    const begun = await changeInProject(context, () => startExport(archive, project_id, idempotencyWrites));
    if (begun === undefined) {
      const message = 'This project is already being exported. GET this path for its progress.';
      throw new ServiceError('conflict', message);
    }
    const counters = await records.get(countersKey(project_id));
    const { bytes = 0, experiments = 0 } = counters === undefined ? {} : parseCounters(counters);
    if (mayRunInRequest(bytes, experiments))
      await runExport(archive, begun, forSeconds(secondsInRequest), log);
    return showExport(await requireExport(records, project_id, now()));
  },
});
