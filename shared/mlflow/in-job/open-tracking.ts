import { join } from 'node:path';
import { newId } from '../../core/new-id.ts';
import { renderError } from '../../http/answer/render-error.ts';
import { decodePathVariable } from '../../http/body/percent-encoding.ts';
import type { RawRequest } from '../../http/definition/endpoint-input.ts';
import type { Reply } from '../../http/definition/reply.ts';
import type { SecretMask } from '../../runner/host/secret-mask.ts';
import type { TrainingRun } from '../../runner/job/training-job.ts';
import type { RunLogs, RunTracking } from '../../runner/outputs/run-logs.ts';
import { runIdOf } from '../protocol/ids.ts';
import { errorBody } from '../protocol/mlflow-error.ts';
import { endOthers } from './end-others.ts';
import { jobReach } from './job-reach.ts';
import { type JobContext, jobRouter } from './job-routes.ts';
import { type LoopbackAnswer, startLoopbackServer } from './loopback-server.ts';
import { storeUpload } from './store-upload.ts';

const json = 'application/json';

function rendered({ body, headers }: Reply<never>): LoopbackAnswer {
  if (body.kind === 'redirect') {
    const redirected = { ...headers, Location: body.locations.GET };
    return { status: 302, headers: redirected, body: '' };
  }
  const mediaType = body.kind === 'content' ? body.mediaType : json;
  const bytes = body.kind === 'content' ? body.bytes : JSON.stringify(body.value);
  return { status: 200, headers: { ...headers, 'Content-Type': mediaType }, body: bytes };
}

const upload = /^(?:ajax-)?api\/2\.0\/mlflow-artifacts\/artifacts\/(.+)$/s;

/** The address of a file that is uploaded, decoded. */
function filePath({ method, path }: Pick<RawRequest, 'method' | 'path'>): string | undefined {
  const [, location] = method === 'PUT' ? (upload.exec(path) ?? []) : [];
  // Bytes that are no UTF-8 make a path of no experiment.
  return location === undefined ? undefined : (decodePathVariable(location) ?? '');
}

/** The request with every secret in the texts of its JSON masked, as in the log. */
function masked(request: RawRequest, mask: SecretMask): RawRequest {
  if (mask.longest === 0 || request.bytes.length === 0) return request;
  try {
    const value: unknown = JSON.parse(Buffer.from(request.bytes).toString(), (_, one: unknown) =>
      typeof one === 'string' ? mask.apply(one) : one,
    );
    return { ...request, bytes: Buffer.from(JSON.stringify(value)) };
  } catch {
    // The parser of the route says what is wrong.
    return request;
  }
}

/**
 * Serve MLflow's API on the loopback address to the program of a training, so that unchanged clients record into its
 * experiment: what they log is stored, under the lease of the job, before it is acknowledged.
 */
export async function openTracking(run: TrainingRun, logs: RunLogs): Promise<RunTracking> {
  const { job, workspace, variables } = run;
  const { record, records, objects, now, settings, log } = job;
  const { project_id } = record;
  const { reach, others } = jobReach(job, logs);
  const context: JobContext = {
    ...{ records, objects, now, newId, settings, log, job: reach },
    caller: { user_id: record.user_id, username: '', account_type: 'developer' },
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
      // The address ends with the job.
      MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT: 'true',
    },
    async close(hasSucceeded) {
      await server.close();
      await endOthers(context, project_id, others, hasSucceeded ? 'SUCCEEDED' : 'FAILED');
    },
  };
}
