import * as z from 'zod';
import { badRequest } from '../../../shared/core/service-error.ts';
import { line } from '../../../shared/core/text/text-rules.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { isFinal } from '../../../shared/data/jobs/job-status.ts';
import { noteWatched } from '../../../shared/data/jobs/lease.ts';
import { readCriterion } from '../../../shared/data/projects/inferred-criterion.ts';
import { markJobs, readRecords } from '../../../shared/data/table/needs.ts';
import { experimentPath } from '../../../shared/experiments/experiment-path.ts';
import { isPointsPosition, readCurves, readPoints } from '../../../shared/experiments/read-points.ts';
import { preferredMediaType } from '../../../shared/http/body/accept.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { content } from '../../../shared/http/definition/endpoint-output.ts';
import { streamPaging } from '../../../shared/http/definition/pagination.ts';
import { decimal, integer } from '../../../shared/http/definition/parameters.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { isSystemMetric } from '../../../shared/metrics/system-metric.ts';
import { PointAnswer, showPoint } from './point-answer.ts';

/** Maximum number of metric names in one request. */
const maxNames = 100;

const wantsChart = (accept: string | undefined): boolean =>
  preferredMediaType(accept, ['application/json', 'image/svg+xml']) === 'image/svg+xml';

/** Refuse a request that sets any of these parameters. @throws ServiceError `bad-request` */
function refuse(parameters: Readonly<Record<string, unknown>>, message: string): void {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  if (given.length > 0) throw badRequest(given.map(([name]) => ({ in: 'query', name, message })));
}

export const endpoint = defineEndpoint({
  name: 'readExperimentMetrics',
  method: 'GET',
  path: '/projects/{project_id}/experiments/{experiment_id}/metrics',
  summary: 'Metrics of an experiment, in order of arrival',
  description:
    'Returns JSON, or a chart of all metrics as SVG, depending on `Accept`. `name` selects metrics; without it those of the machine, `system/…`, are left out. While the experiment runs there is always a next page, so clients can follow the cursor; a missing Link header means that no more points will come.',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords, watch: markJobs },
  input: {
    path: experimentPath,
    query: z.strictObject({
      ...streamPaging(10_000),
      name: z
        .array(line(250))
        .max(maxNames, `is given more than ${maxNames} times`)
        .optional()
        .describe('Name of a metric to return, such as `accuracy`; repeatable.'),
      step_from: decimal(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
        .optional()
        .describe('Lowest step to return. Points without a step are left out.'),
      step_to: decimal(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
        .optional()
        .describe('Greatest step.'),
      points: integer(6, 10_000)
        .optional()
        .describe(
          'Reduce each metric to at most this many points, such as `1000`: the first, the last, and the lowest and highest of each bucket of steps. The response then has all points at once, in order of their steps.',
        ),
    }),
  },
  work: 'heavy: chart, curves and chosen metrics read the points in blocks, of which 160 MB are kept; a page has 40,000 points or 3 MB',
  writes: 'marks the lease of a running job, which then sends its points at once',
  output: { 200: content(['image/svg+xml'], z.array(PointAnswer)) },
  etag: true,
  // A page is limited in size. The other forms may read every point.
  isHeavy: ({ query: { name, points, step_from, step_to } }, { accept }) =>
    [name, points, step_from, step_to].some((given) => given !== undefined) || wantsChart(accept),

  async handle(
    { path: { project_id, experiment_id }, query: { limit, cursor, name, points, ...range } },
    { records, watch, header, now },
  ) {
    const wanted = { names: name, ...range };
    if (cursor !== undefined && !isPointsPosition(cursor, wanted)) {
      throw badRequest([{ in: 'query', name: 'cursor', message: 'is not a cursor of this list' }]);
    }
    // Read the status first: no points arrive after the experiment has ended.
    const experiment = await requireExperiment(records, project_id, experiment_id);
    if (!isFinal(experiment.status)) await noteWatched(watch, experiment_id, 0, now());
    const extras = { headers: { Vary: 'Accept' }, version: experiment.version };
    if (wantsChart(header('accept'))) {
      refuse({ limit, cursor, points }, 'is not for the chart, which shows all points');
      // Load the drawing code with the first chart.
      const { chartOf } = await import('../../../shared/experiments/metric-chart.ts');
      const criterion = await readCriterion(records, project_id);
      const chart = await chartOf(records, experiment, criterion, wanted);
      return Reply.content('image/svg+xml; charset=utf-8', chart, extras);
    }
    if (points !== undefined) {
      refuse({ limit, cursor }, 'is not for curves that are thinned out by `points`');
      const curves = await readCurves(records, experiment_id, wanted, points);
      return Reply.json(curves.map(showPoint), extras);
    }
    const { rows, position, more } = await readPoints(records, experiment_id, wanted, cursor, limit);
    const isMore = more || !isFinal(experiment.status);
    const next = isMore ? { after: position, query: { limit, name, ...range } } : undefined;
    const shown = name === undefined ? rows.filter((point) => !isSystemMetric(point.name)) : rows;
    return Reply.json(shown.map(showPoint), { ...extras, next });
  },
});
