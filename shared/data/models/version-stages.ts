import type { ModelVersion } from './registered-model.ts';

/** Stages of versions, which clients before 2.9 use. */
export const versionStages = ['None', 'Staging', 'Production', 'Archived'] as const;
export const noStage = 'None';
export const archived = 'Archived';

/** Newest version of each stage. */
export function latestOf(
  versions: readonly Pick<ModelVersion, 'stage' | 'number'>[],
): Record<string, number> {
  const latest = new Map<string, number>();
  for (const { stage, number } of versions) latest.set(stage, Math.max(number, latest.get(stage) ?? 0));
  return Object.fromEntries(latest);
}
