import * as z from 'zod';
import { findFields } from '../../data/experiments/tracking.ts';
import { retain } from '../../data/projects/purge.ts';
import { changeFields } from '../../experiments/change-fields.ts';
import { type Route, route } from '../protocol/route.ts';
import { createRun } from './create-run.ts';
import { answerRun, requireRun } from './find-run.ts';
import { inputRoutes } from './input-routes.ts';
import { logRoutes } from './log-routes.ts';
import { metricRoutes } from './metric-routes.ts';
import { runIdField } from './run-id-field.ts';
import { searchDatasets } from './search-datasets.ts';
import { searchRuns } from './search-runs.ts';
import { updateRun } from './update-run.ts';

export const getRun = route('GET mlflow/runs/get', z.object(runIdField), async ({ run_id }, context) => ({
  run: await answerRun(context, run_id),
}));

/** Marks a run as deleted, or takes the mark away; a repetition changes nothing, as MLflow has it. */
const marking = (path: string, deletes: boolean): Route =>
  route(`POST mlflow/runs/${path}`, z.object(runIdField), async ({ run_id }, context) => {
    const { experiment } = await requireRun(context, run_id, 'developer');
    const deleted_at = context.now().toISOString();
    const { project_id, experiment_id } = experiment;
    const found = await findFields(context.records, project_id, experiment_id);
    if (deletes === (found?.deleted_at !== undefined)) return {};
    if (deletes) await context.records.write(...retain({ project_id, experiment_id, deleted_at }));
    await changeFields(context, experiment, (present) => {
      const { deleted_at: marked, ...others } = present;
      if (deletes === (marked !== undefined)) return { fields: present };
      return { fields: deletes ? { ...present, deleted_at } : others };
    });
    return {};
  });

export const runRoutes: readonly Route[] = [
  createRun,
  getRun,
  updateRun,
  marking('delete', true),
  marking('restore', false),
  searchRuns,
  searchDatasets,
  ...logRoutes,
  ...inputRoutes,
  ...metricRoutes,
];
