import type { endpoint as listExperiments } from '../../functions/experiments/search/list-experiments.endpoint.ts';
import type { endpoint as listModels } from '../../functions/optimization/models/list-models.endpoint.ts';
import type { endpoint as listConfigs } from '../../functions/projects/configs/list-configs.endpoint.ts';
import type { endpoint as listProjects } from '../../functions/projects/projects/list-projects.endpoint.ts';
import type { endpoint as listSweeps } from '../../functions/projects/sweeps/list-sweeps.endpoint.ts';
import type { endpoint as listDatasets } from '../../functions/projects/uploads/list-datasets.endpoint.ts';
import { Client } from '../../shared/client/client.ts';
import type { CliContext } from '../context.ts';
import { chosenLogin } from '../login/connect.ts';
import { findProject, projectName } from '../projects/find-project.ts';

/** Maximum number of names to request. A shell shows no more. */
const most = 200;

/** Timeout of a request in milliseconds: the user waits after pressing the tab key. */
const milliseconds = 2_000;

/** Complete names from the service. Return no names if the request fails, because a completion must not fail. */
const live = (ask: (session: Session, context: CliContext) => Promise<readonly string[]>) =>
  async function names(this: CliContext, partial: string): Promise<readonly string[]> {
    try {
      const { url, token } = await chosenLogin(this.env);
      if (token === undefined) return [];
      const client = new Client({ url, token, retries: { attempts: 1, seconds: 0 } });
      const found = await ask({ client, token, signal: AbortSignal.timeout(milliseconds) }, this);
      return found.filter((name) => name.startsWith(partial));
    } catch {
      return [];
    }
  };

/** Complete names from a list of the folder's project. */
const inProject = (ask: (session: Session, project_id: string) => Promise<readonly string[]>) =>
  live(async (session, { folder }) => {
    const project = await findProject(session, await projectName(folder));
    return project === undefined ? [] : ask(session, project.project_id);
  });

const query = { limit: most };

export const experimentIds = inProject(async ({ client, signal }, project_id) => {
  const route = 'GET /projects/{project_id}/experiments';
  const { rows } = await client.page<typeof listExperiments>(route, { path: { project_id }, query, signal });
  return ['latest', ...rows.map(({ experiment_id }) => experiment_id)];
});

export const sweepIds = inProject(async ({ client, signal }, project_id) => {
  const route = 'GET /projects/{project_id}/sweeps';
  const { rows } = await client.page<typeof listSweeps>(route, { path: { project_id }, query, signal });
  return ['latest', ...rows.map(({ sweep_id }) => sweep_id)];
});

interface Session {
  client: Client;
  token: string;
  signal: AbortSignal;
}

export const projectNames = live(async ({ client, signal }) => {
  const { rows } = await client.page<typeof listProjects>('GET /projects/', { query, signal });
  return [...new Set(rows.map(({ project_name }) => project_name))];
});

export const modelNames = live(async ({ client, signal }) => {
  const { rows } = await client.page<typeof listModels>('GET /optimization/models', { query, signal });
  return rows.map(({ model_name }) => model_name);
});

export const configNames = inProject(async ({ client, signal }, project_id) => {
  const route = 'GET /projects/{project_id}/configs';
  const { rows } = await client.page<typeof listConfigs>(route, { path: { project_id }, query, signal });
  return rows.map(({ config_id }) => config_id);
});

export const datasetNames = inProject(async ({ client, signal }, project_id) => {
  const route = 'GET /projects/{project_id}/datasets';
  const { rows } = await client.page<typeof listDatasets>(route, { path: { project_id }, query, signal });
  return rows.map(({ dataset }) => dataset);
});
