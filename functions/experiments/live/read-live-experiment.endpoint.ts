import * as z from 'zod';
import { observeBatch } from '../../../shared/aws/needs.ts';
import { badRequest } from '../../../shared/core/service-error.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { experimentKey, requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { fieldsKey, findFields } from '../../../shared/data/experiments/tracking.ts';
import { jobPartition } from '../../../shared/data/jobs/job.ts';
import { type LogLine, readLog, readLogTail } from '../../../shared/data/jobs/job-log.ts';
import { isFinal } from '../../../shared/data/jobs/job-status.ts';
import { leaseKey, noteWatched } from '../../../shared/data/jobs/lease.ts';
import { readMetrics, readMetricsTail } from '../../../shared/data/metrics/job-metrics.ts';
import { firstPartKey } from '../../../shared/data/metrics/metric-summaries.ts';
import type { MetricPoint } from '../../../shared/data/metrics/metric-summary.ts';
import type { StreamPage } from '../../../shared/data/packed/chunk-stream.ts';
import { itemName } from '../../../shared/data/table/item.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { RecentValues } from '../../../shared/data/table/recent-values.ts';
import type { Key, TableReader } from '../../../shared/data/table/table.ts';
import { LogLineAnswer } from '../../../shared/experiments/answer-log.ts';
import { describeExperiment, ExperimentAnswer } from '../../../shared/experiments/experiment-answer.ts';
import { experimentPath } from '../../../shared/experiments/experiment-path.ts';
import { Cursor, encodeCursor } from '../../../shared/http/definition/cursor.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { integer } from '../../../shared/http/definition/parameters.ts';
import { observeWhenStale } from '../../../shared/jobs/observe-when-stale.ts';
import { isSystemMetric } from '../../../shared/metrics/system-metric.ts';
import { PointAnswer, showPoint } from '../metrics/point-answer.ts';
import { isLogComplete } from '../records/log-complete.ts';
import { awaitNews, changesOf, type Mark, type News, retrySeconds } from './await-news.ts';
import { type LivePosition, parsePosition, positionText } from './live-position.ts';

const name = 'readLiveExperiment';

export const endpoint = defineEndpoint({
  name,
  method: 'GET',
  path: '/projects/{project_id}/experiments/{experiment_id}/live',
  summary: 'State of an experiment, with its new log lines and points',
  description:
    'The first answer has everything so far, or the last `tail` lines and points. Ask again with its `after`, once `retry_after` seconds have passed; the answer then has what is new. On one machine the service waits up to 20 s for news; on AWS it answers at once. `after` is null once nothing more will come.',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: writeRecords, accounts: readUsers, batch: observeBatch },
  input: {
    path: experimentPath,
    query: z.strictObject({
      after: Cursor.optional().describe('`after` of the previous answer. Default: from the beginning.'),
      tail: integer(0, 10_000)
        .optional()
        .describe('Number of last lines and points with which to begin, such as `100`. Default: all.'),
      node: integer(0, 63)
        .optional()
        .describe('Node of the cluster whose log to return, such as `1`. Default: 0, the main node.'),
      parts: z
        .array(z.enum(['log', 'points']))
        .max(2, 'is given more than twice')
        .optional()
        .describe('What to return with the experiment, `log` or `points`; repeatable. Default: both.'),
    }),
  },
  work: 'page: 5,000 lines and 10,000 points, 1 MB of each, or 2.5 MB of one',
  writes: 'marks the lease of a running job, which then sends its lines and points; compares it with Batch',
  output: {
    200: z.object({
      experiment: ExperimentAnswer,
      log: z.array(LogLineAnswer).describe('New lines, oldest first.'),
      earlier: z.boolean().describe('Whether `tail` left out earlier lines.'),
      points: z
        .array(PointAnswer)
        .describe("New points in order of arrival, also the machine's, `system/…`."),
      after: z.string().nullable().describe('Cursor of the next request. Null at the end.'),
      retry_after: z.number().int().describe('Seconds to wait before the next request.'),
    }),
  },

  async handle({ path, query }, context) {
    const { records, accounts, batch, settings, now, log, patience } = context;
    const { project_id, experiment_id } = path;
    const { node = 0, tail, after, parts = ['log', 'points'] } = query;
    const position = after === undefined ? undefined : parsePosition(after);
    if (after !== undefined && (position === undefined || tail !== undefined)) {
      const message = tail === undefined ? 'is not a cursor of this list' : 'and tail cannot be combined';
      throw badRequest([{ in: 'query', name: 'after', message }]);
    }
    const mark = () => readMark(records, { ...path, node });
    const known = patience === undefined || position === undefined ? undefined : await mark();
    const found = await requireExperiment(records, project_id, experiment_id);
    await observeWhenStale({ records, batch, now }, found, log);
    if (!isFinal(found.status))
      for (const one of new Set([0, node])) await noteWatched(records, experiment_id, one, now());

    const most = parts.length === 1 ? maxBytesAlone : maxBytes;
    const look = async () => {
      // Read the state first: a log that is complete gets no more lines.
      const [experiment, fields] = await Promise.all([
        requireExperiment(records, project_id, experiment_id),
        findFields(records, project_id, experiment_id),
      ]);
      const [lines, points] = await Promise.all([
        parts.includes('log')
          ? linesBehind(records, { experiment_id, node, tail, maxBytes: most }, position)
          : noRows,
        parts.includes('points')
          ? pointsBehind(records, { experiment_id, tail, maxBytes: most }, position)
          : noRows,
      ]);
      const isComplete = parts.includes('log')
        ? isLogComplete(experiment, node, now())
        : isFinal(experiment.status);
      const isMore = lines.more || points.more;
      const next: LivePosition = {
        version: experiment.version,
        rank: experiment.status_rank,
        fields: fields?.version ?? 0,
        answered_at: now().getTime(),
        log: lines.position,
        points: points.position,
      };
      const hasEnded = isComplete && !isMore;
      const news = hasEnded || isMore ? 'prompt' : newsOf(position, next, lines.rows, points.rows);
      return { experiment, lines, points, next, hasEnded, isMore, news };
    };

    const first = await look();
    const isAtOnce = first.hasEnded || first.isMore || position === undefined || known === undefined;
    const waited =
      isAtOnce || patience === undefined
        ? undefined
        : await awaitNews(patience, first, {
            sources: [experimentKey(project_id, experiment_id), fieldsKey(project_id, experiment_id)]
              .map(itemName)
              .concat(jobPartition(experiment_id)),
            isPolled: found.kind !== 'logged',
            known,
            answered_at: position.answered_at,
            mark,
            look,
          });
    const { experiment, lines, points, next, hasEnded, isMore } = waited ?? first;
    const mayAskAtOnce = hasEnded || isMore || waited !== undefined || (isAtOnce && patience !== undefined);
    const seconds = experiment.line_ticket === null ? retrySeconds.running : retrySeconds.inLine;
    return {
      experiment: await describeExperiment({ records, accounts, settings, now }, experiment),
      log: lines.rows,
      earlier: lines.isCut,
      points: points.rows.map(showPoint),
      after: hasEnded
        ? null
        : encodeCursor({ name, path, query }, positionText({ ...next, answered_at: now().getTime() })),
      retry_after: mayAskAtOnce ? 0 : seconds,
    };
  },
});

type Records = TableReader<'records'>;

const noRows = { rows: [], position: ':0', more: false, isCut: false };

const maxLines = 5_000;
const maxPoints = 10_000;
/** Of lines and of points, together with the experiment; of one of them alone. They must fit into an answer, escaped. */
const maxBytes = 1_000_000;
const maxBytesAlone = 2_500_000;

async function linesBehind(
  records: Records,
  { experiment_id, node, tail, maxBytes }: Wanted & { node: number },
  position: LivePosition | undefined,
): Promise<Page<LogLine>> {
  if (tail !== undefined)
    return newestOf(await readLogTail(records, experiment_id, node, tail), tail, maxBytes);
  const page = await readLog(records, experiment_id, node, position?.log, { limit: maxLines, maxBytes });
  return { ...page, isCut: false };
}

async function pointsBehind(
  records: Records,
  { experiment_id, tail, maxBytes }: Wanted,
  position: LivePosition | undefined,
): Promise<Page<MetricPoint>> {
  if (tail !== undefined)
    return newestOf(await readMetricsTail(records, experiment_id, tail), tail, maxBytes);
  const from = position?.points;
  return {
    ...(await readMetrics(records, experiment_id, from, { limit: maxPoints, maxBytes })),
    isCut: false,
  };
}

interface Wanted {
  experiment_id: string;
  tail: number | undefined;
  maxBytes: number;
}

/** `isCut` if a tail left out earlier rows. */
type Page<Row> = StreamPage<Row> & { isCut: boolean };

/** Return the newest rows that an answer has room for. */
function newestOf<Row>(page: StreamPage<Row>, tail: number, maxBytes: number): Page<Row> {
  let bytes = 0;
  const tooOld = page.rows.findLastIndex((row) => {
    bytes += Buffer.byteLength(JSON.stringify(row));
    return bytes > maxBytes;
  });
  return { ...page, rows: page.rows.slice(tooOld + 1), isCut: tooOld >= 0 || page.rows.length === tail };
}

/** The machine's own points come with other news. */
function newsOf(
  position: LivePosition | undefined,
  next: LivePosition,
  lines: readonly LogLine[],
  points: readonly MetricPoint[],
): News {
  if (next.rank !== position?.rank || points.some((point) => !isSystemMetric(point.name))) return 'prompt';
  const isNew = lines.length > 0 || next.version !== position.version || next.fields !== position.fields;
  return isNew ? 'slow' : 'none';
}

const marks = new RecentValues<Mark>();

/** Read what changes with the record, the fields, the log and the points of an experiment, once for all its followers. */
function readMark(records: Records, { project_id, experiment_id, node }: Run): Promise<Mark> {
  const keys: Key[] = [
    experimentKey(project_id, experiment_id),
    fieldsKey(project_id, experiment_id),
    firstPartKey(project_id, experiment_id),
    leaseKey(experiment_id, 0),
    ...(node === 0 ? [] : [leaseKey(experiment_id, node)]),
  ];
  const sources = keys.map(itemName).concat(jobPartition(experiment_id));
  return marks.get(records, `${experiment_id} ${node}`, sources, async () => {
    const at = performance.now();
    return { at, text: changesOf(await records.batchGet(keys)) };
  });
}

interface Run {
  project_id: string;
  experiment_id: string;
  node: number;
}
