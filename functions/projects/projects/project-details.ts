import * as z from 'zod';
import { FileId, Ulid } from '../../../shared/core/formats.ts';
import { EnvironmentType } from '../../../shared/data/projects/environment.ts';
import { Criterion } from '../../../shared/data/projects/project.ts';
import { TableViews } from '../../../shared/data/projects/table-view.ts';
import { BestAnswer } from '../../../shared/experiments/best-answer.ts';
import { ExperimentAnswer } from '../../../shared/experiments/experiment-answer.ts';
import { ProjectAnswer } from './project-answer.ts';

/** A project with summaries of its parts. */
export const ProjectDetails = ProjectAnswer.extend({
  views: TableViews.describe('Saved views of its experiments, in the order of their tabs in the console.'),
  baseline: Ulid.nullable().describe(
    'Experiment that the console compares the others with; null if none is chosen. It may be deleted since.',
  ),
  environment: z
    .object({ entry_point_command: z.string(), env_type: EnvironmentType, lock_hash: z.string().nullable() })
    .nullable(),
  configs: z.number().int(),
  experiments: z.number().int(),
  bytes: z
    .number()
    .int()
    .describe(
      'Bytes of its stored objects: sources, data sets, artifacts, checkpoints and packed environments.',
    ),
  limit_bytes: z.number().int().describe('Maximum bytes of a project in this deployment.'),
  latest_experiment: ExperimentAnswer.pick({
    experiment_id: true,
    kind: true,
    config_id: true,
    config_version: true,
    status: true,
    status_reason: true,
    created_at: true,
    started_at: true,
    stopped_at: true,
    best: true,
    best_reason: true,
  }).nullable(),
  best_experiment: z
    .object({ experiment_id: Ulid, config_id: FileId.nullable(), best: BestAnswer })
    .nullable()
    .describe('The best experiment that succeeded, by the current criterion.'),
  best_reason: z
    .string()
    .nullable()
    .describe('Reason why there is no best experiment, with the metrics that runs reported; null otherwise.'),
  metrics: z
    .array(z.object({ name: z.string(), goal: Criterion.shape.goal.nullable() }))
    .describe(
      'Metrics that its experiments reported, at most 200, the likeliest criteria first. The goal is null if the name does not imply one.',
    ),
}).meta({ id: 'ProjectDetails' });
