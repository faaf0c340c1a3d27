import * as z from 'zod';
import { listExperiments } from '../../data/experiments/experiment.ts';
import { contextTag } from '../../data/experiments/experiment-row.ts';
import { type ExperimentFields, readTrackingOf } from '../../data/experiments/tracking.ts';
import { requireExperimentProject } from '../projects/find-project.ts';
import type { MlflowContext } from '../protocol/context.ts';
import { mlflowError } from '../protocol/mlflow-error.ts';
import { route } from '../protocol/route.ts';
import { text } from '../protocol/scalars.ts';

const maxProjects = 20;
/** Data sets of an answer, as MLflow's own server has it. */
const maxDatasets = 1000;

/** Newest runs of an experiment that are read: each may have 300 KB. */
const maxRuns = 1000;
const runsAtOnce = 100;

/** What clients say of the newest runs that are not deleted. */
async function* fieldsOfRuns(
  { records }: MlflowContext,
  project_id: string,
): AsyncGenerator<ExperimentFields> {
  let after: string | undefined;
  let read = 0;
  do {
    const page = await listExperiments(records, project_id, { limit: runsAtOnce, after });
    const ids = page.items.map(({ experiment_id }) => experiment_id);
    for (const { fields } of (await readTrackingOf(records, project_id, ids)).of.values())
      if (fields !== undefined && fields.deleted_at === undefined) yield fields;
    read += runsAtOnce;
    after = page.next;
  } while (after !== undefined && read < maxRuns);
}

/** The data sets that the newest runs of some experiments have read, each once, as MLflow's pages offer them for filters. */
export const searchDatasets = route(
  'POST mlflow/experiments/search-datasets',
  z.object({ experiment_ids: z.array(text.min(1)).default([]) }),
  async ({ experiment_ids }, context) => {
    if (experiment_ids.length === 0)
      throw mlflowError(
        'INVALID_PARAMETER_VALUE',
        'SearchDatasets request must specify at least one experiment_id.',
      );
    if (experiment_ids.length > maxProjects)
      throw mlflowError(
        'INVALID_PARAMETER_VALUE',
        `SearchDatasets request cannot specify more than ${maxProjects} experiment_ids. Received ${experiment_ids.length} experiment_ids.`,
      );
    const found = new Map<string, object>();
    for (const id of new Set(experiment_ids)) {
      const { project_id: experiment_id } = await requireExperimentProject(context, id, 'viewer');
      for await (const { datasets = [] } of fieldsOfRuns(context, experiment_id))
        for (const { name, digest, tags } of datasets) {
          const summary = {
            experiment_id,
            name,
            digest,
            ...(tags[contextTag] && { context: tags[contextTag] }),
          };
          found.set(JSON.stringify(summary), summary);
          if (found.size === maxDatasets) return { dataset_summaries: [...found.values()] };
        }
    }
    return { dataset_summaries: [...found.values()] };
  },
);
