import { observeBatch } from '../../../shared/aws/needs.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { answerExperiment, ExperimentAnswer } from '../../../shared/experiments/experiment-answer.ts';
import { experimentPath } from '../../../shared/experiments/experiment-path.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { observeWhenStale } from '../../../shared/jobs/observe-when-stale.ts';

export const endpoint = defineEndpoint({
  name: 'readExperiment',
  method: 'GET',
  path: '/projects/{project_id}/experiments/{experiment_id}',
  summary: 'Details of an experiment',
  description:
    'Compares an unfinished experiment with AWS Batch first, unless that was done in the last 30 seconds.',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: writeRecords, accounts: readUsers, batch: observeBatch },
  input: { path: experimentPath },
  writes: 'compares an unfinished experiment with Batch, and writes down what it finds',
  output: { 200: ExperimentAnswer },
  etag: true,

  async handle({ path }, { records, accounts, batch, settings, now, log }) {
    const read = () => requireExperiment(records, path.project_id, path.experiment_id);
    const found = await read();
    const compared = await observeWhenStale({ records, batch, now }, found, log);
    return answerExperiment({ records, accounts, settings, now }, compared ? await read() : found);
  },
});
