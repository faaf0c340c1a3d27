import { endpoint } from '../../../functions/mlflow/serve-mlflow.endpoint.ts';
import type { RequestMethod } from '../../../shared/http/definition/request-method.ts';
import type { TestService, TestUser } from '../../support/service.ts';

/** Calls of MLflow's API as one user. Paths are below `api/2.0/mlflow/`. */
export function mlflowCaller(service: TestService, as: TestUser) {
  const call = (method: RequestMethod, path: string, rest: { query?: string; body?: string } = {}) =>
    service.call(endpoint, { method, path: { mlflow_path: path }, as, ...rest });
  const json = (value: unknown) => JSON.stringify(value);
  return {
    user: as,
    call,
    post: (path: string, body: object) => call('POST', `api/2.0/mlflow/${path}`, { body: json(body) }),
    get: (path: string, query: Record<string, string>) =>
      call('GET', `api/2.0/mlflow/${path}`, { query: new URLSearchParams(query).toString() }),
  };
}

export type MlflowCaller = ReturnType<typeof mlflowCaller>;

/** A new run in a new experiment. */
export async function newRun({ post }: MlflowCaller, name = `e${Math.random()}`) {
  const created = await post('experiments/create', { name });
  const { experiment_id } = created.json;
  const run = await post('runs/create', { experiment_id, start_time: 1_700_000_000_000 });
  return { experiment_id: String(experiment_id), run_id: String(run.json.run.info.run_id) };
}
