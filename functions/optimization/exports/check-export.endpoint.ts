import * as z from 'zod';
import { readVariablesKey } from '../../../shared/data/projects/variable.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { projectToChange } from '../../../shared/http/pipeline/project-authorization.ts';
import { requireRoom } from '../../../shared/jobs/admission.ts';
import { checkExport } from './export-inputs.ts';
import { ExportRequest } from './export-request.ts';
import { resolveRevision } from './resolve-revision.ts';

export const endpoint = defineEndpoint({
  name: 'checkExport',
  method: 'POST',
  path: '/optimization/exports/check',
  summary: 'Whether the service would begin an export',
  description:
    'Applies all checks of `POST /optimization/exports` that need no uploaded files, so a client learns of a refusal before it uploads them. Without `source` for a folder, without `data` for texts, and without `project_id` for a project that is still to be created. Begins nothing.',
  allow: 'developer',
  right: 'run',
  keepsToProjects: true,
  needs: { records: readRecords, keys: readVariablesKey },
  input: { body: fields(ExportRequest.partial({ source: true })) },
  repeatable: true,
  output: {
    200: z.object({
      cost_estimate: z
        .number()
        .nullable()
        .describe('US dollars for an export that reaches its timeout; null if compute is free.'),
    }),
  },
  problems: ['conflict', 'not-found', 'too-large', 'unsupported-media-type'],

  async handle({ body }, { records, keys, caller, settings, now }) {
    const { project_id, source, budget } = body;
    const project = project_id === undefined ? undefined : await projectToChange(records, project_id, caller);
    const { cost_estimate } = await checkExport(body, project_id, { records, settings });
    const planned = { caller, project, budget, at: now(), cost_estimate, nodes: 1 };
    await requireRoom(records, planned, settings.limits);
    if (source !== undefined && 'hf' in source)
      await resolveRevision(source, project_id, { records, keys, settings });
    return { cost_estimate };
  },
});
