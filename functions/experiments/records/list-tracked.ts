import type { Limits } from '../../../shared/core/settings.ts';
import { type Experiment, listExperiments } from '../../../shared/data/experiments/experiment.ts';
import { nothingTracked, readTrackingOf, type Tracking } from '../../../shared/data/experiments/tracking.ts';
import type { Page, TableReader } from '../../../shared/data/table/table.ts';
import { type Placed, placeInLine } from '../../../shared/jobs/line.ts';

/** Experiments read at once: what is tracked of one may be some 100 KB. */
const maxPage = 100;

interface TrackedExperiment {
  experiment: Placed<Experiment>;
  tracking: Tracking;
}

/** Experiments of a project with what is tracked of them, newest first. */
export async function listTracked(
  records: TableReader<'records'>,
  limits: Limits,
  project_id: string,
  { limit, after }: { limit: number; after: string | undefined },
): Promise<Page<TrackedExperiment>> {
  const page = await listExperiments(records, project_id, { limit: Math.min(limit, maxPage), after });
  const ids = page.items.map(({ experiment_id }) => experiment_id);
  const [placed, tracked] = await Promise.all([
    placeInLine(records, limits, page.items),
    readTrackingOf(records, project_id, ids),
  ]);
  const all = placed.map((experiment) => ({
    experiment,
    tracking: tracked.of.get(experiment.experiment_id) ?? nothingTracked,
  }));
  // What an MLflow client has deleted is there only for its restore.
  const items = all.filter(({ tracking }) => tracking.fields?.deleted_at === undefined);
  return { ...page, items, unreadable: [...(page.unreadable ?? []), ...tracked.unreadable] };
}
