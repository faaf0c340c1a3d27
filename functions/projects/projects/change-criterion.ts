import { badRequest } from '../../../shared/core/service-error.ts';
import type { Criterion } from '../../../shared/data/projects/project.ts';
import { goalInCatalogue } from '../../../shared/metrics/criteria.ts';

interface Given {
  criterion?: string | null | undefined;
  criterion_goal?: Criterion['goal'] | undefined;
}

const fault = (name: string, message: string) => badRequest([{ in: 'body', name, message }]);

/**
 * Return the criterion that a change of a project sets: null to use the task's criterion, undefined to leave it
 * unchanged. Throw a 400 problem for a metric with an unknown direction.
 */
export function changedCriterion({ criterion: name, criterion_goal }: Given): Criterion | null | undefined {
  if (name === undefined || name === null) {
    if (criterion_goal === undefined) return name;
    throw fault('criterion_goal', 'is the direction of a criterion, so criterion is required too');
  }
  const goal = criterion_goal ?? goalInCatalogue(name);
  if (goal !== undefined) return { name, goal };
  throw fault(
    'criterion_goal',
    `is required: maximize or minimize. GET /projects/criteria has no direction for ${name}`,
  );
}
