import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { experimentPath } from '../../../shared/experiments/experiment-path.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { answerJobBudget, BudgetAnswer } from '../../../shared/jobs/budget-answer.ts';

export const endpoint = defineEndpoint({
  name: 'readExperimentBudget',
  method: 'GET',
  path: '/projects/{project_id}/experiments/{experiment_id}/budget',
  summary: 'Budget of a training, and what it has cost so far',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: experimentPath },
  output: { 200: BudgetAnswer },

  async handle({ path }, { records, now }) {
    return answerJobBudget(await requireExperiment(records, path.project_id, path.experiment_id), now());
  },
});
