import type { ModelVersion } from '../../../shared/data/registered-model.ts';
import { invalidValue } from '../protocol/mlflow-error.ts';

/** Stages of versions, which clients before 2.9 use. */
const stages = ['None', 'Staging', 'Production', 'Archived'] as const;
export const noStage = 'None';
export const archived = 'Archived';

/** A stage by its name in any case. @throws ServiceError `INVALID_PARAMETER_VALUE` */
export function stageOf(name: string): string {
  const stage = stages.find((one) => one.toLowerCase() === name.toLowerCase());
  if (stage !== undefined) return stage;
  throw invalidValue(
    'stage',
    name,
    `Invalid Model Version stage: ${name}. Value must be one of ${stages.join(', ')}.`,
  );
}

/** Newest version of each stage. */
export function latestOf(
  versions: readonly Pick<ModelVersion, 'stage' | 'number'>[],
): Record<string, number> {
  const latest = new Map<string, number>();
  for (const { stage, number } of versions) latest.set(stage, Math.max(number, latest.get(stage) ?? 0));
  return Object.fromEntries(latest);
}
