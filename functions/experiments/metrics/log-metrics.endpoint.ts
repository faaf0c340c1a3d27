import * as z from 'zod';
import { Instant, Ulid } from '../../../shared/core/formats.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { logPoints, readBeforePoints } from '../../../shared/data/experiments/log-points.ts';
import { TrackedName } from '../../../shared/data/experiments/tracking-rules.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { readAhead } from '../../../shared/data/table/table.ts';
import { experimentPath } from '../../../shared/experiments/experiment-path.ts';
import { NumberParameter } from '../../../shared/http/body/json-number.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';

const maxPoints = 1000;
/**
 * Maximum number of bytes of a request body: a full batch of points whose 250-character names consist of JSON
 * escapes.
 */
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
    'Stores at most 1,000 points, all or none: `{"metrics": [{"name", "value", "step"?, "time"?}]}`, or one point per line as `application/x-ndjson`. A value may be `"NaN"`, `"Infinity"` or `"-Infinity"`. `time` defaults to now. A point that already exists is not stored again, so a request with times can be repeated. Ended experiments also accept points.',
  allow: 'developer',
  project: 'developer',
  right: 'record',
  audit: { hourly: true },
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
  work: 'page: 4 MB of points; compared with stored ones only where they do not rise',
  repeatable: true,
  output: {
    200: z.object({
      experiment_id: Ulid,
      points: z.number().int().describe('Points of the request.'),
      stored: z.number().int().describe('Number of new points.'),
    }),
  },
  problems: ['conflict', 'too-large', 'unsupported-media-type'],

  async handle({ path, body: { metrics } }, { records, now }) {
    const read = readAhead(() => readBeforePoints(records, path));
    const experiment = await requireExperiment(records, path.project_id, path.experiment_id);
    if (experiment.kind !== 'logged') {
      throw new ServiceError(
        'conflict',
        'A training gets metrics only from its job, which writes them to METRICS_FILE.',
      );
    }
    const at = now().getTime();
    const points = metrics.map(({ name, value, step = null, time }) => ({
      name,
      value,
      step,
      time: time === undefined ? at : Date.parse(time),
    }));
    const stored = await logPoints(records, experiment, points, read, now);
    return { experiment_id: path.experiment_id, points: points.length, stored };
  },
});
