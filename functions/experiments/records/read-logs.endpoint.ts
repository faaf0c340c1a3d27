import * as z from 'zod';
import { paragraph } from '../../../shared/core/text/text-rules.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { markJobs, readRecords } from '../../../shared/data/table/needs.ts';
import { answerLog, logQuery, SearchableLogAnswer } from '../../../shared/experiments/answer-log.ts';
import { experimentPath } from '../../../shared/experiments/experiment-path.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { integer } from '../../../shared/http/definition/parameters.ts';
import { isLogComplete } from './log-complete.ts';

export const endpoint = defineEndpoint({
  name: 'readExperimentLogs',
  method: 'GET',
  path: '/projects/{project_id}/experiments/{experiment_id}/logs',
  summary: 'Log of an experiment, oldest line first',
  description:
    'Returns JSON or plain text, depending on `Accept`. While the experiment runs there is always a next page, so clients can follow the cursor; a missing Link header means that the log is complete.',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords, watch: markJobs },
  input: {
    path: experimentPath,
    query: z.strictObject({
      ...logQuery,
      node: integer(0, 63)
        .optional()
        .describe('Node of the cluster whose log to return, such as `1`. Default: 0, the main node.'),
      search: paragraph(200)
        .optional()
        .describe(
          'Return only lines with this text, without case, such as `nan`: up to `limit` (1,000) a page. A page reads 20 MB of the log, so follow the cursor also from a page without lines.',
        ),
      line: integer(0, 1e9)
        .optional()
        .describe(
          'Begin with the line that has this number, from 0, such as the `number` of one that a search has found. Follow the cursor also from a page without lines.',
        ),
    }),
  },
  work: 'page: 3 MB of lines, or the last 10,000; in a search or on the way to a line 20 MB',
  writes: 'marks the lease of a running job, which then sends its lines at once',
  output: { 200: SearchableLogAnswer },

  handle({ path, query }, { records, watch, header, now }) {
    return answerLog(
      { records, watch },
      {
        now: now(),
        job_id: path.experiment_id,
        query,
        accept: header('accept'),
        async isComplete() {
          const experiment = await requireExperiment(records, path.project_id, path.experiment_id);
          return isLogComplete(experiment, query.node ?? 0, now());
        },
      },
    );
  },
});
