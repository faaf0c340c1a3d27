import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { answerBudget, BudgetAnswer } from '../../../shared/jobs/budget-answer.ts';

export const endpoint = defineEndpoint({
  name: 'readProjectBudget',
  method: 'GET',
  path: '/projects/{project_id}/budget',
  summary: "A project's budget for each month, and what is left of it",
  description: 'A job counts in the month in which it was created (UTC).',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: projectPath },
  output: { 200: BudgetAnswer },

  handle: ({ path: { project_id } }, { records, now }) => answerBudget(records, project_id, now()),
});
