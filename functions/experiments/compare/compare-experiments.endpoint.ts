import * as z from 'zod';
import { readProjectObjects } from '../../../shared/aws/needs.ts';
import { Ulid, ulidPattern } from '../../../shared/core/formats.ts';
import { breathe } from '../../../shared/core/stop-signal.ts';
import { defaultName } from '../../../shared/data/projects/default-name.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { preferredMediaType } from '../../../shared/http/body/accept.ts';
import { JsonNumber, jsonNumber } from '../../../shared/http/body/json-number.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { content } from '../../../shared/http/definition/endpoint-output.ts';
import { flag, projectPath } from '../../../shared/http/definition/parameters.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { compareValues } from '../../../shared/metrics/compare-values.ts';
import { withoutSystem } from '../../../shared/metrics/system-metric.ts';
import { ChangedFiles, changedFiles, compareFiles } from './compare-files.ts';
import { attributesOf, comparisonTable, readCompared } from './comparison.ts';

/** Maximum number of experiments in one comparison. */
const maxCompared = 50;
const idList = new RegExp(`^${ulidPattern}(,${ulidPattern}){1,${maxCompared - 1}}$`);
const rule = `must be 2 to ${maxCompared} different ids of experiments, separated by commas`;

const Attribute = z.union([z.string(), z.number(), z.null()]);
const compared = <S extends z.ZodType>(value: S) =>
  z.object({
    differ: z.record(z.string(), z.array(value)).describe('One value per experiment; null if it has none.'),
    equal: z.record(z.string(), value).describe('The common value.'),
  });

const Comparison = z
  .object({
    experiments: z.array(z.object({ experiment_id: Ulid, name: z.string() })),
    attributes: compared(Attribute),
    params: compared(z.string().nullable()),
    tags: compared(z.string().nullable()),
    metrics: compared(JsonNumber.nullable()).describe('The last values.'),
    files: z
      .array(
        z.object({
          experiment_id: Ulid,
          config: z.string().nullable(),
          dependencies: z.string().nullable(),
          lock: z.string().nullable(),
          same_source: z.boolean(),
          changed_files: ChangedFiles.nullable().describe(
            'Changes from the first source to this one. Null if both are equal, if one is above 32 MB or not an archive, or if the request does not ask for it.',
          ),
          omitted: z
            .boolean()
            .describe('Whether a diff is left out because all diffs together exceed 2,000,000 characters.'),
        }),
      )
      .describe(
        'Unified diffs from the first experiment to each of the others; null if there is no difference. With too many changes for one request, the line of a hunk (`@@`) says that it replaces every line.',
      ),
  })
  .meta({ id: 'Comparison' });

export const endpoint = defineEndpoint({
  name: 'compareExperiments',
  method: 'GET',
  path: '/projects/{project_id}/compare',
  summary: 'Differences and common values of experiments',
  description:
    'Compares attributes, params, tags and last values of metrics. Includes diffs of configurations, dependencies and resolved packages, and the names of changed source files. With `Accept: text/markdown`, the response is a table of the params and metrics that differ.',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords, objects: readProjectObjects },
  input: {
    path: projectPath,
    query: z.strictObject({
      experiments: z
        .string()
        .regex(idList, { error: rule, abort: true })
        .refine((text) => {
          const ids = text.split(',');
          return new Set(ids).size === ids.length;
        }, rule)
        .describe(`2 to ${maxCompared} experiments, separated by commas.`),
      changed_files: flag
        .default(true)
        .describe(
          'Whether to compare the sources and name the changed files: `true`, or `false`, which is faster.',
        ),
    }),
  },
  work: 'heavy: 50 experiments, 64 MB of source archives, 2,000,000 characters and steps of diffs',
  output: { 200: content(['text/markdown'], Comparison) },
  problems: ['too-large'],
  isHeavy: () => true,

  async handle({ path: { project_id }, query }, { records, objects, header }) {
    const found = await readCompared(records, project_id, query.experiments.split(','));
    const params = compareValues(
      found.map(({ tracking }) => new Map(Object.entries(tracking.fields?.params ?? {}))),
    );
    await breathe();
    const tags = compareValues(
      found.map(({ tracking }) => new Map(Object.entries(tracking.fields?.tags ?? {}))),
    );
    await breathe();
    const metrics = compareValues(
      found.map(
        ({ tracking }) =>
          new Map([...withoutSystem(tracking.metrics)].map(([name, { last }]) => [name, jsonNumber(last)])),
      ),
    );
    await breathe();
    const experiments = found.map(({ experiment: { experiment_id, config_id }, tracking }) => ({
      experiment_id,
      name: tracking.fields?.name ?? defaultName(config_id),
    }));
    const headers = { Vary: 'Accept' };
    if (preferredMediaType(header('accept'), ['application/json', 'text/markdown']) === 'text/markdown') {
      const names = experiments.map(({ name, experiment_id }) => `${name} (${experiment_id.slice(-8)})`);
      const tables = [
        comparisonTable('param', names, params.differ),
        comparisonTable('metric', names, metrics.differ),
      ].filter((table) => table !== '');
      const text = tables.length === 0 ? 'No param and no metric differs.\n' : tables.join('\n');
      return Reply.content('text/markdown; charset=utf-8', text, { headers });
    }
    const attributes = compareValues(found.map(attributesOf));
    const [first] = found;
    const compareSource =
      query.changed_files && first ? changedFiles(objects, first.experiment) : async () => null;
    const files = await compareFiles(records, project_id, found, compareSource);
    return Reply.json({ experiments, attributes, params, tags, metrics, files }, { headers });
  },
});
