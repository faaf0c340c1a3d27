import type { endpoint as updateProject } from '../../functions/projects/projects/update-project.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';
import { usageFaults } from '../cli-error.ts';
import type { Project } from './find-project.ts';

/**
 * Let a metric rank the experiments of a project.
 *
 * @param given the metric, and its direction if the catalogue lacks it: `fitness:max`
 * @returns the criterion; undefined if the project has it already
 */
export async function setCriterion(
  client: Client,
  project: Project,
  given: string,
): Promise<string | undefined> {
  const [, name = given, direction] = /^(.+):(min|max)(?:imize)?$/.exec(given) ?? [];
  const goal = direction === undefined ? undefined : (`${direction}imize` as 'minimize' | 'maximize');
  const { project_id, criterion, criterion_goal, criterion_source } = project;
  const isKnown = criterion === name && (goal === undefined || criterion_goal === goal);
  if (isKnown && criterion_source === 'project') return undefined;
  const changed = await usageFaults(
    client.call<typeof updateProject>('PATCH /projects/{project_id}', {
      path: { project_id },
      body: { criterion: name, ...(goal !== undefined && { criterion_goal: goal }) },
    }),
  );
  return criterionText(changed);
}

/** Return the metric that ranks a project's experiments, such as `fitness, maximize`. */
export const criterionText = ({
  criterion,
  criterion_goal,
}: Pick<Project, 'criterion' | 'criterion_goal'>): string => `${criterion}, ${criterion_goal}`;
