import * as z from 'zod';
import { listExperiments } from '../../shared/data/experiment.ts';
import { readRecords } from '../../shared/data/needs.ts';
import { defineEndpoint } from '../../shared/http/definition.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { answerList, paging } from '../../shared/http/paging.ts';
import { projectPath } from '../../shared/http/project-path.ts';
import { placeInLine } from '../../shared/jobs/place-in-line.ts';
import { ExperimentAnswer, showExperiment } from './experiment-answer.ts';

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
      async fetch(page) {
        const found = await listExperiments(records, path.project_id, page);
        return { ...found, items: await placeInLine(records, settings.limits, found.items) };
      },
      keyOf: (experiment) => experiment.experiment_id,
      show: (experiment) => showExperiment(experiment, at),
    });
  },
});

export const handler = lambda(endpoint);
