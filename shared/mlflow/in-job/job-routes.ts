import * as z from 'zod';
import { artifactReads } from '../artifacts/routes.ts';
import { oneModelRoutes } from '../logged-models/routes.ts';
import { showExperiment } from '../projects/show-experiment.ts';
import { type JobReach, type MlflowContext, outsideJob, requireAccess } from '../protocol/context.ts';
import { mlflowError } from '../protocol/mlflow-error.ts';
import { createRouter, type Route, route } from '../protocol/route.ts';
import { text } from '../protocol/scalars.ts';
import { serverRoutes } from '../protocol/server-routes.ts';
import { inputRoutes } from '../runs/input-routes.ts';
import { logRoutes } from '../runs/log-routes.ts';
import { metricRoutes } from '../runs/metric-routes.ts';
import { createRun, getRun, updateRun } from '../runs/routes.ts';
import { searchRuns } from '../runs/search-runs.ts';

/** Context of a route inside a job. It always has a reach. */
export type JobContext = MlflowContext & { job: JobReach };

function jobOf({ job }: MlflowContext): JobReach {
  if (job === undefined) throw outsideJob();
  return job;
}

const experiment_id = text.min(1);

const getExperiment = route(
  'GET mlflow/experiments/get',
  z.object({ experiment_id }),
  async (input, context) => ({
    experiment: showExperiment(await requireAccess(context, input.experiment_id, 'viewer')),
  }),
);

/** Every name stands for the project of the job, so a program that names an experiment runs unchanged. */
const getByName = route(
  'GET mlflow/experiments/get-by-name',
  z.object({ experiment_name: text.min(1) }),
  async ({ experiment_name }, context) => ({
    experiment: showExperiment({ ...jobOf(context).project, project_name: experiment_name }),
  }),
);

const createExperiment = route(
  'POST mlflow/experiments/create',
  z.object({ name: text.min(1) }),
  async (_, context) => ({ experiment_id: jobOf(context).project.project_id }),
);

const searchOwn = route('POST mlflow/experiments/search', z.object({}), async (_, context) => ({
  experiments: [showExperiment(jobOf(context).project)],
}));

/**
 * Return no models. Clients search for models when they list the artifacts of a run, and the search would read the
 * whole project.
 */
const searchNothing = route('POST mlflow/logged-models/search', z.object({}), async () => ({ models: [] }));

/**
 * A job accepts only whole files. This message tells clients with multipart upload enabled that it is not
 * available.
 */
const partsRefused: Route = {
  method: 'POST',
  path: 'mlflow-artifacts/mpu/{rest+}',
  handle: async () => {
    throw mlflowError(
      'PERMISSION_DENIED',
      'Multipart upload is not supported for the current artifact repository: a job sends each file in one request.',
    );
  },
};

/**
 * Paths that the whole API serves and a job may not use. A job gets a refusal there instead of an unknown-endpoint
 * error.
 */
const refusedPaths = [
  'mlflow/experiments/{rest+}',
  'mlflow/runs/{rest+}',
  'mlflow/registered-models/{rest+}',
  'mlflow/model-versions/{rest+}',
  'mlflow/logged-models/{rest+}',
  'mlflow-artifacts/{rest+}',
];
const refusals = refusedPaths.flatMap((path): Route[] =>
  (['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const).map((method) => ({
    method,
    path,
    handle: async () => {
      throw outsideJob();
    },
  })),
);

/** The operations of MLflow's API inside a job. */
export const jobRouter = createRouter([
  ...serverRoutes(false),
  getExperiment,
  getByName,
  createExperiment,
  searchOwn,
  searchRuns,
  createRun,
  getRun,
  updateRun,
  ...logRoutes,
  ...inputRoutes,
  ...metricRoutes,
  ...artifactReads,
  searchNothing,
  ...oneModelRoutes,
  partsRefused,
  ...refusals,
]);
