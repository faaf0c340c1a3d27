import * as z from 'zod';
import { Timestamp, Ulid } from '../../../shared/core/formats.ts';
import { inLanes } from '../../../shared/core/in-lanes.ts';
import { findExperiments } from '../../../shared/data/experiments/experiment.ts';
import { isFinal } from '../../../shared/data/jobs/job-status.ts';
import { retain, retainedUntil } from '../../../shared/data/projects/purge.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { changeFields } from '../../../shared/experiments/change-fields.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { changesAtOnce, ExperimentIds } from './experiment-ids.ts';

export const endpoint = defineEndpoint({
  name: 'deleteExperiments',
  method: 'POST',
  path: '/projects/{project_id}/experiments/delete',
  summary: 'Delete experiments that can be restored for 30 days',
  description:
    'Marks trainings that have ended, and experiments that clients record, as deleted. Lists leave them out, except with `deleted=true`. After 30 days they are removed with their logs, metrics and artifacts. Until then POST …/experiments/restore brings them back. Trainings that have not ended, and experiments that a report shows, are left as they are. DELETE of one experiment removes it at once and for ever.',
  allow: 'developer',
  project: 'developer',
  audit: { fields: ['experiment_ids'] },
  needs: { records: writeRecords },
  input: { path: projectPath, body: fields(z.strictObject({ experiment_ids: ExperimentIds })) },
  repeatable: true,
  output: {
    200: z.object({
      deleted: z.array(Ulid).describe('Experiments that are deleted now, including those that already were.'),
      shown: z.array(Ulid).describe('Experiments that a report shows. Remove them from the report first.'),
      unfinished: z.array(Ulid).describe('Trainings that have not ended. Cancel them first.'),
      missing: z.array(Ulid).describe('Experiments that the project does not have.'),
      until: Timestamp.describe('Time until which those that this request deleted can be restored.'),
    }),
  },
  problems: ['conflict', 'too-large', 'unsupported-media-type'],

  async handle({ path: { project_id }, body: { experiment_ids } }, context) {
    const { records, now } = context;
    const deleted_at = now().toISOString();
    const experiments = await findExperiments(records, project_id, experiment_ids);
    const shown = new Set<string>();
    // An experiment that a client records may never end.
    const ended = experiments.filter(({ kind, status }) => kind === 'logged' || isFinal(status));
    await inLanes(ended, changesAtOnce, async (experiment) => {
      const { experiment_id } = experiment;
      let isScheduled = false;
      await changeFields(context, experiment, async (present, { reports = 0 }) => {
        if (present.deleted_at !== undefined) return { fields: present };
        // A report that begins to show it raises its version, so this is read again.
        if (reports > 0) {
          shown.add(experiment_id);
          return { fields: present };
        }
        shown.delete(experiment_id);
        // The purge is scheduled before the mark, so every mark has a purge.
        if (!isScheduled) await records.write(...retain({ project_id, experiment_id, deleted_at }));
        isScheduled = true;
        return { fields: { ...present, deleted_at } };
      });
    });
    const idsOf = (isShown: boolean) =>
      ended.flatMap(({ experiment_id: id }) => (shown.has(id) === isShown ? [id] : []));
    const known = new Set(experiments.map(({ experiment_id }) => experiment_id));
    return {
      deleted: idsOf(false),
      shown: idsOf(true),
      unfinished: experiments.flatMap((one) => (ended.includes(one) ? [] : [one.experiment_id])),
      missing: experiment_ids.filter((id) => !known.has(id)),
      until: retainedUntil(deleted_at).toISOString(),
    };
  },
});
