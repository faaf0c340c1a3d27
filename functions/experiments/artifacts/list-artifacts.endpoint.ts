import * as z from 'zod';
import { listArtifacts } from '../../../shared/data/experiments/artifact.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { experimentPath } from '../../../shared/experiments/experiment-path.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { answerList, paging } from '../../../shared/http/definition/pagination.ts';
import { ArtifactAnswer, fileKind } from './artifact.ts';

export const endpoint = defineEndpoint({
  name: 'listArtifacts',
  method: 'GET',
  path: '/projects/{project_id}/experiments/{experiment_id}/artifacts',
  summary: 'Artifacts of the experiment, by path',
  description: 'With `kind=checkpoint`, its checkpoints.',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: experimentPath, query: z.strictObject({ kind: fileKind, ...paging }) },
  work: 'page: the limit of every list',
  output: { 200: z.array(ArtifactAnswer) },

  async handle({ path, query }, { records }) {
    await requireExperiment(records, path.project_id, path.experiment_id);
    return answerList(query, {
      fetch: (page) => listArtifacts(records, path.experiment_id, page, query.kind),
      keyOf: (artifact) => artifact.path,
      show: (artifact) => artifact,
    });
  },
});
