import * as z from 'zod';
import { Timestamp } from '../../shared/core/formats.ts';
import { badRequest } from '../../shared/core/service-error.ts';
import { line } from '../../shared/core/text-rules.ts';
import { isStreamPosition } from '../../shared/data/chunk-stream.ts';
import { requireExperiment } from '../../shared/data/experiment.ts';
import { isFinal } from '../../shared/data/job-status.ts';
import { noteWatched } from '../../shared/data/lease.ts';
import { markJobs, readRecords } from '../../shared/data/needs.ts';
import { preferredMediaType } from '../../shared/http/accept.ts';
import { content, defineEndpoint } from '../../shared/http/definition.ts';
import { JsonNumber, jsonNumber } from '../../shared/http/json-number.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { streamPaging } from '../../shared/http/paging.ts';
import { Reply } from '../../shared/http/reply.ts';
import { experimentPath } from './experiment-path.ts';
import { everyPoint, readPoints } from './read-points.ts';

const PointAnswer = z.object({
  name: z.string(),
  value: JsonNumber,
  step: z.number().nullable(),
  time: Timestamp,
});

export const endpoint = defineEndpoint({
  name: 'readExperimentMetrics',
  method: 'GET',
  path: '/projects/{project_id}/experiments/{experiment_id}/metrics',
  summary: 'Metrics that an experiment reported, in that order',
  description:
    'JSON, or a chart of all of them (SVG) by Accept; `name` chooses one metric. While the experiment runs there is always a next page, so that its cursor can be followed; a missing Link header means that no more will come.',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords, watch: markJobs },
  input: {
    path: experimentPath,
    query: z.strictObject({
      ...streamPaging(10_000),
      name: line(250).optional().describe('Name of the one metric that is wanted, such as `accuracy`.'),
    }),
  },
  output: { 200: content(['image/svg+xml'], z.array(PointAnswer)) },
  etag: true,

  async handle(
    { path: { project_id, experiment_id }, query: { limit, cursor, name } },
    { records, watch, header, now },
  ) {
    if (cursor !== undefined && !isStreamPosition(cursor)) {
      throw badRequest([{ in: 'query', name: 'cursor', message: 'is not a cursor of this list' }]);
    }
    // The status is read first: points that come later than an end do not exist.
    const experiment = await requireExperiment(records, project_id, experiment_id);
    if (!isFinal(experiment.status)) await noteWatched(watch, experiment_id, 0, now());
    const extras = { headers: { Vary: 'Accept' }, version: experiment.version };
    if (preferredMediaType(header('accept'), ['application/json', 'image/svg+xml']) === 'image/svg+xml') {
      const paged = Object.entries({ limit, cursor }).filter(([, given]) => given !== undefined);
      const message = 'is not for the chart, which shows all points';
      if (paged.length > 0)
        throw badRequest(paged.map(([parameter]) => ({ in: 'query', name: parameter, message })));
      // The drawing code is loaded with the first chart.
      const { chartOf } = await import('./metric-chart.ts');
      const chart = await chartOf(experiment, everyPoint(records, experiment_id, name));
      return Reply.content('image/svg+xml; charset=utf-8', chart, extras);
    }
    const { rows, position, more } = await readPoints(records, experiment_id, name, cursor, limit);
    const isMore = more || !isFinal(experiment.status);
    const next = isMore ? { after: position, query: { limit, name } } : undefined;
    const shown = rows.map((row) => ({ ...row, value: jsonNumber(row.value) }));
    return Reply.json(shown, { ...extras, next });
  },
});

export const handler = lambda(endpoint);
