import { ServiceError } from '../../../shared/core/service-error.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { answerBudget, BudgetAnswer } from '../../../shared/jobs/budget-answer.ts';
import { budgetPath, requireUser } from './budget-path.ts';

export const endpoint = defineEndpoint({
  name: 'readUserBudget',
  method: 'GET',
  path: '/users/{user_id}/budget',
  summary: "A user's budget for each month, and what is left of it",
  description: 'A job counts for the user who begins it. Only admins see the budgets of others.',
  allow: 'guest',
  needs: { accounts: readUsers, records: readRecords },
  input: { path: budgetPath },
  output: { 200: BudgetAnswer },
  problems: ['forbidden', 'not-found'],

  async handle({ path: { user_id } }, { accounts, records, caller, now }) {
    if (caller.account_type !== 'admin' && caller.user_id !== user_id)
      throw new ServiceError('forbidden', 'Only an admin may see the budget of another user.');
    await requireUser(accounts, user_id);
    return answerBudget(records, user_id, now());
  },
});
