import * as z from 'zod';
import { Ulid, ulidPattern } from '../../../shared/core/formats.ts';
import { type Artifact, listArtifacts } from '../../../shared/data/experiments/artifact.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { mediaKinds, mediaSeries } from '../../../shared/experiments/media-series.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';

const maxExperiments = 50;
/** Artifacts that are read of one experiment. */
const maxPerExperiment = 10_000;
/** Artifacts of all experiments after which the rest is left for the next request. */
const maxArtifacts = 16_000;
/** Characters of the answer after which the rest is left for the next request. */
const maxCharacters = 3_000_000;
/** Experiments that are read at once. */
const atOnce = 4;

const idList = new RegExp(`^${ulidPattern}(,${ulidPattern}){0,${maxExperiments - 1}}$`);

const MediaOfExperiment = z.object({
  experiment_id: Ulid,
  is_complete: z
    .boolean()
    .describe(`False if it has more than ${maxPerExperiment} artifacts. The rest was not read.`),
  series: z.array(
    z.object({
      key: z
        .string()
        .describe('Key of `mlflow.log_image`, or the path without its step; the folder of event files.'),
      kind: z.enum(mediaKinds),
      items: z
        .array(
          z.object({
            step: z.number().nullable().describe('Null for a file whose name has no step.'),
            path: z.string(),
            size: z.number().int(),
            original: z
              .string()
              .nullable()
              .describe("The full-size picture, if `path` is MLflow's smaller copy."),
          }),
        )
        .describe('By step.'),
    }),
  ),
});

async function filesOf(records: TableReader<'records'>, experiment_id: string) {
  const files: Artifact[] = [];
  let after: string | undefined;
  do {
    const page = await listArtifacts(records, experiment_id, { limit: 1000, after });
    files.push(...page.items);
    after = page.next;
  } while (after !== undefined && files.length < maxPerExperiment);
  return { files, isComplete: after === undefined };
}

export const endpoint = defineEndpoint({
  name: 'listMedia',
  method: 'GET',
  path: '/projects/{project_id}/media',
  summary: 'Pictures, sounds and histograms of experiments, by key and step',
  description:
    'Reads names only. Recognizes `mlflow.log_image` with `key` and `step`, and files such as `samples/epoch_12.png` and `histograms/weights_step_12.json`. Event files of TensorBoard are series of the kind `events`; read them to see what they have. Experiments that did not fit are in `left`: repeat the request with them.',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: {
    path: projectPath,
    query: z.strictObject({
      experiments: z
        .string()
        .regex(idList, `must be 1 to ${maxExperiments} ids of experiments, separated by commas`)
        .describe(`1 to ${maxExperiments} experiments, separated by commas.`),
    }),
  },
  work: 'heavy: 10,000 artifacts of an experiment, 16,000 of all, 3 MB; `left` names the experiments that are left',
  output: {
    200: z
      .object({
        experiments: z.array(MediaOfExperiment),
        left: z.array(Ulid).describe('Experiments that this answer has no room for.'),
      })
      .meta({ id: 'Media' }),
  },
  isHeavy: () => true,

  async handle({ path: { project_id }, query }, { records }) {
    const wanted = [...new Set(query.experiments.split(','))];
    const experiments: z.infer<typeof MediaOfExperiment>[] = [];
    let artifacts = 0;
    let characters = 0;
    while (
      wanted.length > 0 &&
      (experiments.length === 0 || (artifacts < maxArtifacts && characters < maxCharacters))
    ) {
      const read = await Promise.all(
        wanted.splice(0, atOnce).map(async (experiment_id) => {
          await requireExperiment(records, project_id, experiment_id);
          return { experiment_id, ...(await filesOf(records, experiment_id)) };
        }),
      );
      for (const { experiment_id, files, isComplete } of read) {
        const shown = { experiment_id, is_complete: isComplete, series: mediaSeries(files) };
        const length = JSON.stringify(shown).length;
        if (experiments.length > 0 && characters + length > maxCharacters) {
          wanted.unshift(experiment_id);
          continue;
        }
        artifacts += files.length;
        characters += length;
        experiments.push(shown);
      }
    }
    return { experiments, left: wanted };
  },
});
