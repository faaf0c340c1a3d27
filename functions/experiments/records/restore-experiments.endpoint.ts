import * as z from 'zod';
import { Ulid } from '../../../shared/core/formats.ts';
import { inLanes } from '../../../shared/core/in-lanes.ts';
import { findExperiments } from '../../../shared/data/experiments/experiment.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { changeFields } from '../../../shared/experiments/change-fields.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { changesAtOnce, ExperimentIds } from './experiment-ids.ts';

export const endpoint = defineEndpoint({
  name: 'restoreExperiments',
  method: 'POST',
  path: '/projects/{project_id}/experiments/restore',
  summary: 'Restore experiments that were deleted in the last 30 days',
  description: 'Removes the mark of POST …/experiments/delete, or of an MLflow client, with nothing lost.',
  allow: 'developer',
  project: 'developer',
  audit: { fields: ['experiment_ids'] },
  needs: { records: writeRecords },
  input: { path: projectPath, body: fields(z.strictObject({ experiment_ids: ExperimentIds })) },
  repeatable: true,
  output: {
    200: z.object({
      restored: z
        .array(Ulid)
        .describe('Experiments that are not deleted now, including those that never were.'),
      missing: z
        .array(Ulid)
        .describe('Experiments that the project does not have, for example because 30 days have passed.'),
    }),
  },
  problems: ['conflict', 'too-large', 'unsupported-media-type'],

  async handle({ path: { project_id }, body: { experiment_ids } }, context) {
    const experiments = await findExperiments(context.records, project_id, experiment_ids);
    await inLanes(experiments, changesAtOnce, (experiment) =>
      changeFields(context, experiment, (present) => {
        const { deleted_at, ...others } = present;
        return { fields: deleted_at === undefined ? present : others };
      }),
    );
    const restored = experiments.map(({ experiment_id }) => experiment_id);
    return { restored, missing: experiment_ids.filter((id) => !restored.includes(id)) };
  },
});
