import * as z from 'zod';
import { notFound } from '../../../shared/core/service-error.ts';
import { findVariable } from '../../../shared/data/projects/variable.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { changeVariables } from './change-variables.ts';
import { variablePath } from './variable.ts';

export const endpoint = defineEndpoint({
  name: 'deleteVariable',
  method: 'DELETE',
  path: '/projects/{project_id}/variables/{name}',
  summary: 'Delete an environment variable of a project',
  description: 'Jobs that are already submitted keep it until they end.',
  allow: 'developer',
  project: 'owner',
  needs: { records: writeRecords },
  input: { path: variablePath },
  output: { 200: z.object({ name: z.string() }) },
  problems: ['not-found', 'conflict', 'precondition-failed'],

  async handle({ path: { name } }, context) {
    await changeVariables(context, (present) => {
      const previous = findVariable(present, name);
      if (previous === undefined) throw notFound('variable', name);
      requirePrecondition(context, previous.version);
      return present.variables.filter((variable) => variable !== previous);
    });
    return { name };
  },
});
