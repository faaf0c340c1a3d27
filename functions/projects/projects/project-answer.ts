import * as z from 'zod';
import { Timestamp, Ulid } from '../../../shared/core/formats.ts';
import { Criterion, type Project } from '../../../shared/data/projects/project.ts';
import { RunRules } from '../../../shared/data/projects/run-rules.ts';
import type { ProjectCriterion } from '../../../shared/metrics/criteria.ts';

/** A project in a response. */
export const ProjectAnswer = z
  .object({
    project_id: Ulid,
    project_name: z.string(),
    project_description: z.string(),
    project_type: z.string(),
    project_task: z.string(),
    criterion: z.string().describe("Metric that ranks the project's experiments."),
    criterion_goal: Criterion.shape.goal,
    criterion_source: z
      .enum(['project', 'task', 'first-run', 'default'])
      .describe(
        'Source of the criterion: set in the project, from its task, or from the metrics of the first run that reported any. Until then the criterion is the loss.',
      ),
    rules: RunRules.describe('Rules under which its runs begin.'),
    owner: z.string().nullable(),
    owner_id: Ulid,
    created_at: Timestamp,
    updated_at: Timestamp,
    deleted_at: Timestamp.nullable().describe(
      'Time at which it was marked as deleted. It is removed 30 days later. Null if it is not deleted.',
    ),
  })
  .meta({ id: 'Project' });

/** A project in the list of projects. */
export const ListedProject = ProjectAnswer.extend({
  experiments: z.int().describe('Number of its experiments.'),
}).meta({ id: 'ListedProject' });

/** Show a project with its current criterion. */
export const showProject = (
  project: Project,
  { name, goal, source }: ProjectCriterion,
): z.input<typeof ProjectAnswer> => ({
  ...project,
  criterion: name,
  criterion_goal: goal,
  criterion_source: source,
  rules: project.rules ?? [],
  deleted_at: project.deleted_at ?? null,
});
