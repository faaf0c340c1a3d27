import * as z from 'zod';
import { Instant, Ulid } from '../../../shared/core/formats.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { logPoints, readBeforePoints } from '../../../shared/data/experiments/log-points.ts';
import { TrackedName } from '../../../shared/data/rules/tracked.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { readAhead } from '../../../shared/data/table/table.ts';
import { experimentPath } from '../../../shared/experiments/experiment-path.ts';
import { NumberParameter } from '../../../shared/http/body/json-number.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { lambda } from '../../../shared/http/pipeline/lambda.ts';

const maxPoints = 1000;
/** Most bytes of a request body: a full batch of points whose 250-character names consist of JSON escapes. */
const bodyMaxBytes = 3_500_000;

const Point = z.strictObject({
  name: TrackedName,
  value: NumberParameter,
  step: z.number().int('must be a whole number').nullish(),
  time: Instant.optional(),
});

export const endpoint = defineEndpoint({
  name: 'logExperimentMetrics',
  method: 'POST',
  path: '/projects/{project_id}/experiments/{experiment_id}/metrics',
  summary: 'Log metrics of an experiment that runs elsewhere',
  description:
    'At most 1,000 points, all or none of which are stored: `{"metrics": [{"name", "value", "step"?, "time"?}]}`, or one such point a line as `application/x-ndjson`. A value may be `"NaN"`, `"Infinity"` or `"-Infinity"`; without `time` it is now. A point that is stored already is not stored again, so that a request which names times can be repeated. Also once the experiment has ended.',
  allow: 'developer',
  project: 'developer',
  needs: { records: writeRecords },
  input: {
    path: experimentPath,
    body: fields(
      z.strictObject({
        metrics: z
          .array(Point)
          .min(1, 'must have at least one point')
          .max(maxPoints, `must have at most ${maxPoints} points`)
          .describe('The points, in any order.'),
      }),
      bodyMaxBytes,
      'metrics',
    ),
  },
  output: {
    200: z.object({
      experiment_id: Ulid,
      points: z.number().int().describe('Points of the request.'),
      stored: z.number().int().describe('How many of them were new.'),
    }),
  },
  problems: ['conflict', 'too-large', 'unsupported-media-type'],

  async handle({ path, body: { metrics } }, { records, now }) {
    const read = readAhead(() => readBeforePoints(records, path));
    const { kind } = await requireExperiment(records, path.project_id, path.experiment_id);
    if (kind !== 'logged') {
      throw new ServiceError(
        'conflict',
        'The metrics of a training are those that its job writes to METRICS_FILE.',
      );
    }
    const at = now().getTime();
    const points = metrics.map(({ name, value, step = null, time }) => ({
      name,
      value,
      step,
      time: time === undefined ? at : Date.parse(time),
    }));
    const stored = await logPoints(records, path, points, read);
    return { experiment_id: path.experiment_id, points: points.length, stored };
  },
});

export const handler = lambda(endpoint);
