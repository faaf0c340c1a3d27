import * as z from 'zod';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { criteria } from '../../../shared/metrics/criteria.ts';

const CriterionAnswer = z.object({
  name: z.string(),
  goal: z.enum(['maximize', 'minimize']),
  tasks: z.array(z.string()),
  description: z.string(),
});

export const endpoint = defineEndpoint({
  name: 'listCriteria',
  method: 'GET',
  path: '/projects/criteria',
  summary: 'Criteria that rank experiments',
  description:
    "A project's experiments are ranked by the first criterion that lists the project's task. If none lists it, they are ranked by the first criterion that a run reports, and by `loss` until then. Tasks match regardless of case. Spaces and underscores count as hyphens.",
  allow: 'viewer',
  right: 'read',
  keepsToProjects: true,
  needs: {},
  input: {},
  output: { 200: z.array(CriterionAnswer) },

  async handle() {
    return criteria.map((criterion) => ({ ...criterion, tasks: [...criterion.tasks] }));
  },
});
