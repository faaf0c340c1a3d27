import { ServiceError } from '../../../shared/core/service-error.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { budgetLeft } from '../../../shared/data/jobs/budget.ts';
import { changeJob } from '../../../shared/data/jobs/job.ts';
import { isFinal } from '../../../shared/data/jobs/job-status.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { readAgain, retryOnConflict } from '../../../shared/data/table/retry-on-conflict.ts';
import { ConditionFailedError } from '../../../shared/data/table/write-label.ts';
import { experimentPath } from '../../../shared/experiments/experiment-path.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { chargeBudgets, highestCost, requireBudget } from '../../../shared/jobs/budget.ts';
import { answerJobBudget, BudgetAnswer, BudgetRequest } from '../../../shared/jobs/budget-answer.ts';
import { unchangedCharges } from '../../../shared/jobs/conclusion.ts';
import { roundedDollars } from '../../../shared/jobs/cost.ts';
import { unfinishedJobOf } from '../../../shared/jobs/job-record.ts';

export const endpoint = defineEndpoint({
  name: 'putExperimentBudget',
  method: 'PUT',
  path: '/projects/{project_id}/experiments/{experiment_id}/budget',
  summary: 'Set what a training may cost',
  description:
    'While it waits or runs. Once it has cost so much, it gets SIGTERM, saves its checkpoints, and ends as CANCELLED; a rerun goes on from there. The budgets of its project and user keep what it may cost.',
  allow: 'developer',
  project: 'developer',
  audit: { fields: ['amount'] },
  needs: { records: writeRecords },
  input: { path: experimentPath, body: fields(BudgetRequest) },
  output: { 200: BudgetAnswer },
  problems: ['conflict', 'too-large', 'unsupported-media-type'],

  async handle({ path, body: { amount: budget } }, { records, now, noteAudit }) {
    const change = async () => {
      const present = await requireExperiment(records, path.project_id, path.experiment_id);
      if (isFinal(present.status) || present.kind === 'logged')
        throw new ServiceError(
          'conflict',
          `The experiment is ${present.status}. Give its rerun a budget instead.`,
        );
      const { cost_estimate, charged: before } = present;
      noteAudit({ before: { amount: present.budget } });
      const price = before === null ? null : cost_estimate;
      requireBudget(budget, { ...present, cost_estimate: price }, 'body', 'amount');
      // Without a price it has no budget to remove.
      if (before === null) return answerJobBudget(present, now());
      const next = { ...present, budget };
      const charged = Math.max(present.spent, highestCost(next) ?? 0);
      const more = roundedDollars(charged - before);
      const { subject } = unfinishedJobOf(present);
      try {
        await records.write(
          changeJob(subject, { set: { budget, charged } }, unchangedCharges(present)),
          ...(await chargeBudgets(records, present, more)),
        );
      } catch (error) {
        // Its container has charged it in between, or it has ended.
        if (error instanceof ConditionFailedError && !error.isOnly(budgetLeft)) return readAgain;
        throw error;
      }
      return answerJobBudget({ ...next, charged }, now());
    };
    const isConflict = (error: ConditionFailedError) => error.isOnly(budgetLeft);
    return retryOnConflict(change, { isConflict });
  },
});
