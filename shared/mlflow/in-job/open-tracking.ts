import { join } from 'node:path';
import { newId } from '../../core/new-id.ts';
import { ServiceError } from '../../core/service-error.ts';
import { originOf } from '../../data/accounts/ci-run.ts';
import type { Experiment } from '../../data/experiments/experiment.ts';
import type { Project } from '../../data/projects/project.ts';
import { endBegun, listBegun } from '../../experiments/begun-experiments.ts';
import { renderError } from '../../http/answer/render-error.ts';
import { decodePathVariable } from '../../http/body/percent-encoding.ts';
import type { RawRequest } from '../../http/definition/endpoint-input.ts';
import type { Reply } from '../../http/definition/reply.ts';
import type { SecretMask } from '../../runner/host/secret-mask.ts';
import type { TrainingJob, TrainingRun } from '../../runner/job/training-job.ts';
import { changeOwnFields } from '../../runner/outputs/change-own-fields.ts';
import type { ClientRecords, RunTracking } from '../../runner/outputs/client-records.ts';
import type { JobReach, JobRuns } from '../protocol/context.ts';
import { runIdOf } from '../protocol/ids.ts';
import { errorBody } from '../protocol/mlflow-error.ts';
import { type JobContext, jobRouter } from './job-routes.ts';
import { jobRuns } from './job-runs.ts';
import { type LoopbackAnswer, startLoopbackServer } from './loopback-server.ts';
import { storeUpload } from './store-upload.ts';

/**
 * Serve MLflow's API on the loopback address to the program of a training, so unchanged clients record into its
 * experiment. The server stores everything that they log, under the lease of the job, before it acknowledges it.
 */
export async function openTracking(run: TrainingRun, logs: ClientRecords): Promise<RunTracking> {
  const { job, workspace, variables } = run;
  const { record, records, objects, now, settings, log } = job;
  const { project_id } = record;
  const { experiment_id, attempt } = record;
  const begun = attempt <= 1 ? [] : await listBegun(records, { project_id, experiment_id });
  const runs = jobRuns(begun, experiment_id);
  const reach = jobReach(job, logs, runs);
  const context: JobContext = {
    ...{ records, objects, now, newId, settings, log, job: reach },
    // What a job writes is its own; the operation that began it has the record.
    noteAudit: () => {},
    caller: { user_id: record.user_id, username: '', account_type: 'developer', ...originOf(record) },
  };
  const spool = { folder: join(workspace.own, 'uploads'), bytes: 0, maxBytes: settings.limits.artifactBytes };
  const server = await startLoopbackServer({
    filePath,
    async answer(request) {
      const { route, variables: named } = jobRouter(request);
      return rendered(await route.handle(masked(request, variables.mask), named, context));
    },
    async receive(location, bytes) {
      await storeUpload({ context, logs, spool }, location, bytes);
      return { status: 200, headers: { 'Content-Type': json }, body: '{}' };
    },
    fail(error) {
      const { statusCode, headers = {}, body } = renderError(error, newId(), log, errorBody);
      const texts = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
      return { status: statusCode, headers: Object.fromEntries(texts), body };
    },
  });
  return {
    env: {
      MLFLOW_TRACKING_URI: server.url,
      MLFLOW_TRACKING_TOKEN: server.token,
      MLFLOW_EXPERIMENT_ID: project_id,
      MLFLOW_RUN_ID: runIdOf(record),
      // The URL stops working when the job ends, so clients must not print it.
      MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT: 'true',
    },
    async close(hasSucceeded) {
      await server.close();
      await endBegun(context, project_id, runs.begun(), hasSucceeded ? 'SUCCEEDED' : 'FAILED');
    },
  };
}

/** Create the reach of a job's program. */
function jobReach(job: TrainingJob, logs: ClientRecords, runs: JobRuns): JobReach {
  const { record: experiment } = job;
  let points = 0;
  return {
    project: projectOf(experiment),
    experiment,

    runs,

    async logPoints(more) {
      if (points + more.length > maxPoints)
        throw new ServiceError('conflict', `A job may log at most ${maxPoints} points.`);
      points += more.length;
      await logs.points(more);
    },

    changeFields: (change) => changeOwnFields(job, change),
  };
}

const projectOf = ({ project_id, created_at, user_id }: Experiment): Project => ({
  project_id,
  project_name: project_id,
  project_description: '',
  project_type: '',
  project_task: '',
  owner: null,
  owner_id: user_id,
  created_at,
  updated_at: created_at,
  version: 0,
});

/** Maximum number of points that one attempt of a job may log through MLflow's API. */
const maxPoints = 1_000_000;

/** Return the decoded address of an upload. */
function filePath({ method, path }: Pick<RawRequest, 'method' | 'path'>): string | undefined {
  const [, location] = method === 'PUT' ? (upload.exec(path) ?? []) : [];
  // An address that is not UTF-8 becomes an empty path, which belongs to no experiment.
  return location === undefined ? undefined : (decodePathVariable(location) ?? '');
}

const upload = /^(?:ajax-)?api\/2\.0\/mlflow-artifacts\/artifacts\/(.+)$/s;

function rendered({ body, headers }: Reply<never>): LoopbackAnswer {
  if (body.kind === 'redirect') {
    const redirected = { ...headers, Location: body.locations.GET };
    return { status: 302, headers: redirected, body: '' };
  }
  const mediaType = body.kind === 'content' ? body.mediaType : json;
  const bytes = body.kind === 'content' ? body.bytes : JSON.stringify(body.value);
  return { status: 200, headers: { ...headers, 'Content-Type': mediaType }, body: bytes };
}

const json = 'application/json';

/** Mask every secret in the strings of a JSON request, as in the log. */
function masked(request: RawRequest, mask: SecretMask): RawRequest {
  if (mask.longest === 0 || request.bytes.length === 0) return request;
  try {
    const value: unknown = JSON.parse(Buffer.from(request.bytes).toString(), (_, one: unknown) =>
      typeof one === 'string' ? mask.apply(one) : one,
    );
    return { ...request, bytes: Buffer.from(JSON.stringify(value)) };
  } catch {
    // The route's parser reports the error.
    return request;
  }
}
