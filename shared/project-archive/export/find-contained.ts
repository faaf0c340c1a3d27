import { experimentsPartition, parseExperiment } from '../../data/experiments/experiment.ts';
import { listLoggedModels } from '../../data/experiments/logged-model.ts';
import { readTrackingOf } from '../../data/experiments/tracking.ts';
import { isFinal } from '../../data/jobs/job-status.ts';
import type { Contained, ExportContext } from './export-context.ts';
import { findRegistered } from './find-registered.ts';

/** Experiments that an export leaves out and names: as many stand in its receipt. */
const maxNamed = 100;

/** What an export leaves out of a project. */
export interface LeftOut {
  /** Experiments that have not ended, or are marked as deleted. */
  left_out: number;
  /** Those of them that have not ended, the first hundred. */
  unfinished: string[];
}

/**
 * The experiments and models that an export contains: all that have ended, of those that clients record also those that
 * run, and none that is marked as deleted; and the registered models with versions of these.
 */
export async function findContained(
  { records }: Pick<ExportContext, 'records'>,
  project_id: string,
): Promise<Contained & LeftOut> {
  const experiments: string[] = [];
  const models: string[] = [];
  const unfinished: string[] = [];
  let left_out = 0;
  let after: string | undefined;
  do {
    const page = await records.query({ pk: experimentsPartition(project_id), after, limit: 100 });
    const read = page.items.map(parseExperiment);
    const newestFirst = read.map(({ experiment_id }) => experiment_id).reverse();
    const tracked = await readTrackingOf(records, project_id, newestFirst);
    for (const error of tracked.unreadable) throw error;
    for (const { experiment_id, kind, status } of read) {
      const isDeleted = tracked.of.get(experiment_id)?.fields?.deleted_at !== undefined;
      const isUnfinished = kind !== 'logged' && !isFinal(status);
      if (isUnfinished && unfinished.length < maxNamed) unfinished.push(experiment_id);
      if (isDeleted || isUnfinished) left_out += 1;
      else experiments.push(experiment_id);
    }
    after = page.next;
  } while (after !== undefined);
  do {
    const page = await listLoggedModels(records, project_id, { after });
    for (const error of page.unreadable ?? []) throw error;
    for (const { model_id, deleted_at } of page.items) if (deleted_at === undefined) models.unshift(model_id);
    after = page.next;
  } while (after !== undefined);
  const registered = await findRegistered(records, [...experiments, ...models]);
  return { experiments, models, registered, left_out, unfinished };
}
