import * as z from 'zod';
import { readRecords } from '../../shared/data/needs.ts';
import { defineEndpoint } from '../../shared/http/definition.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { answerList, paging } from '../../shared/http/paging.ts';
import { projectPath } from '../../shared/http/project-path.ts';
import { ExperimentAnswer, showExperiment } from './experiment-answer.ts';
import { listTracked } from './list-tracked.ts';

export const endpoint = defineEndpoint({
  name: 'listExperiments',
  method: 'GET',
  path: '/projects/{project_id}/experiments',
  summary: "The project's experiments, newest first",
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: projectPath, query: z.strictObject(paging) },
  output: { 200: z.array(ExperimentAnswer) },

  handle({ path, query }, { records, settings, now }) {
    const at = now();
    return answerList(query, {
      fetch: (page) => listTracked(records, settings.limits, path.project_id, page),
      keyOf: ({ experiment }) => experiment.experiment_id,
      show: ({ experiment, tracking }) => showExperiment(experiment, at, tracking),
    });
  },
});

export const handler = lambda(endpoint);
