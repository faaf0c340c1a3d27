import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { storeBudget } from '../../../shared/data/jobs/budget.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { answerBudget, BudgetAnswer, BudgetRequest } from '../../../shared/jobs/budget-answer.ts';
import { budgetPath, requireUser } from './budget-path.ts';

export const endpoint = defineEndpoint({
  name: 'putUserBudget',
  method: 'PUT',
  path: '/users/{user_id}/budget',
  summary: 'Set what the jobs of a user may cost in a month',
  description:
    'Trainings, prunings and quantizations count. A job begins only if what it may cost, up to its timeout, is left; else 409 says what is.',
  allow: 'admin',
  audit: { fields: ['amount'] },
  needs: { accounts: readUsers, records: writeRecords },
  input: { path: budgetPath, body: fields(BudgetRequest) },
  output: { 200: BudgetAnswer },
  problems: ['not-found', 'conflict', 'too-large', 'unsupported-media-type'],

  async handle({ path: { user_id }, body: { amount } }, { accounts, records, now }) {
    await requireUser(accounts, user_id);
    await storeBudget(records, user_id, amount, now());
    return answerBudget(records, user_id, now());
  },
});
