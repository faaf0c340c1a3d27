import { storeBudget } from '../../../shared/data/jobs/budget.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { answerBudget, BudgetAnswer, BudgetRequest } from '../../../shared/jobs/budget-answer.ts';

export const endpoint = defineEndpoint({
  name: 'putProjectBudget',
  method: 'PUT',
  path: '/projects/{project_id}/budget',
  summary: 'Set what the jobs of a project may cost in a month',
  description:
    'A job begins only if what it may cost, up to its timeout, is left; else 409 says what is. Once the budget is used up, running jobs get SIGTERM, save their checkpoints, and end as CANCELLED.',
  allow: 'developer',
  project: 'remove',
  audit: { fields: ['amount'] },
  needs: { records: writeRecords },
  input: { path: projectPath, body: fields(BudgetRequest) },
  output: { 200: BudgetAnswer },
  problems: ['conflict', 'too-large', 'unsupported-media-type'],

  async handle({ path: { project_id }, body: { amount } }, { records, now }) {
    await storeBudget(records, project_id, amount, now());
    return answerBudget(records, project_id, now());
  },
});
