import * as z from 'zod';
import { isStreamPosition } from '../../shared/data/chunk-stream.ts';
import { type Experiment, requireExperiment } from '../../shared/data/experiment.ts';
import { type LogLine, readLog, readLogTail } from '../../shared/data/job-log.ts';
import { readRecords } from '../../shared/data/needs.ts';
import { preferredMediaType } from '../../shared/endpoint/accept.ts';
import { content, defineEndpoint } from '../../shared/endpoint/definition.ts';
import { lambda } from '../../shared/endpoint/lambda.ts';
import { streamLink, streamPaging } from '../../shared/endpoint/paging.ts';
import { integer, Timestamp } from '../../shared/endpoint/parameters.ts';
import { badRequest } from '../../shared/endpoint/problem.ts';
import { Reply } from '../../shared/endpoint/reply.ts';
import { isFinal } from '../../shared/jobs/status.ts';
import { experimentPath } from './experiment-path.ts';

const LogLineAnswer = z.object({
  time: Timestamp,
  stream: z.enum(['stdout', 'stderr', 'service']),
  message: z.string(),
});

const asText = (lines: readonly LogLine[]): string => lines.map(({ message }) => `${message}\n`).join('');

/** Seconds that the other nodes of a cluster get to stop and ship their logs once node 0 has ended. */
const otherNodesSeconds = 60;

function isComplete({ status, stopped_at }: Experiment, node: number, now: Date): boolean {
  if (!isFinal(status) || stopped_at === null) return false;
  return node === 0 || now.getTime() - Date.parse(stopped_at) > otherNodesSeconds * 1000;
}

export const endpoint = defineEndpoint({
  name: 'readExperimentLogs',
  method: 'GET',
  path: '/projects/{project_id}/experiments/{experiment_id}/logs',
  summary: 'Log of an experiment, oldest line first',
  description:
    'JSON, or plain text by Accept. While the experiment runs there is always a next page, so that its cursor can be followed; a missing Link header means that the log is complete.',
  allow: 'viewer',
  project: 'exists',
  needs: { records: readRecords },
  input: {
    path: experimentPath,
    query: z.strictObject({
      ...streamPaging(10_000),
      tail: integer(1, 10_000).optional(),
      node: integer(0, 63).optional(),
    }),
  },
  output: { 200: content(['text/plain'], z.array(LogLineAnswer)) },

  async handle({ path, query }, { records, header, now }) {
    const { limit, cursor, tail, node = 0 } = query;
    if (cursor !== undefined && (tail !== undefined || !isStreamPosition(cursor))) {
      const message = tail === undefined ? 'is not a cursor of this list' : 'and tail exclude each other';
      throw badRequest([{ in: 'query', name: 'cursor', message }]);
    }
    // The status is read first: lines that come later than an end do not exist.
    const experiment = await requireExperiment(records, path.project_id, path.experiment_id);
    const { rows, position, more } =
      tail === undefined
        ? await readLog(records, path.experiment_id, node, cursor, {
            limit: limit ?? 10_000,
            maxBytes: 3_000_000,
          })
        : await readLogTail(records, path.experiment_id, node, tail);
    const headers =
      more || !isComplete(experiment, node, now()) ? streamLink(position, { limit, node: query.node }) : {};
    const isText = preferredMediaType(header('accept'), ['application/json', 'text/plain']) === 'text/plain';
    return isText
      ? Reply.content('text/plain; charset=utf-8', asText(rows), { headers })
      : Reply.json(rows, { headers });
  },
});

export const handler = lambda(endpoint);
