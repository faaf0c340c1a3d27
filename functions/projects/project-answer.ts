import * as z from 'zod';
import { Timestamp, Ulid } from '../../shared/core/formats.ts';
import { Criterion, type Project } from '../../shared/data/project.ts';
import { criterionOf } from '../experiments/criteria.ts';

/** A project as every operation returns it. */
export const ProjectAnswer = z
  .object({
    project_id: Ulid,
    project_name: z.string(),
    project_description: z.string(),
    project_type: z.string(),
    project_task: z.string(),
    criterion: z.string().describe('The metric by which its experiments are ranked.'),
    criterion_goal: Criterion.shape.goal,
    criterion_source: z.enum(['project', 'task']).describe('Whether the project names it, or its task does.'),
    owner: z.string().nullable(),
    owner_id: Ulid,
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Project' });

/** A project to show, with the criterion that it has. */
export function showProject(project: Project): z.input<typeof ProjectAnswer> {
  const { name, goal } = criterionOf(project);
  const criterion_source = project.criterion === undefined ? 'task' : 'project';
  return { ...project, criterion: name, criterion_goal: goal, criterion_source };
}
