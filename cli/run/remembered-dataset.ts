import type { endpoint as listExperiments } from '../../functions/experiments/search/list-experiments.endpoint.ts';
import type { endpoint as listDatasets } from '../../functions/projects/uploads/list-datasets.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';

/**
 * Return the data set of the project's last training, as a second `mps run` trains with the same; undefined if it had
 * none, or if the project no longer has it.
 */
export async function rememberedDataset(client: Client, project_id: string): Promise<string | undefined> {
  const path = { project_id };
  const dataset = await lastDataset(client, path);
  if (dataset === null) return undefined;
  for await (const one of client.rows<typeof listDatasets>('GET /projects/{project_id}/datasets', { path }))
    if (one.dataset === dataset) return dataset;
  return undefined;
}

/** Experiments to look at. A program may have recorded others after the training. */
const maxLooked = 20;

async function lastDataset(client: Client, path: { project_id: string }): Promise<string | null> {
  const query = { limit: maxLooked };
  let looked = 0;
  const route = 'GET /projects/{project_id}/experiments';
  for await (const { kind, dataset } of client.rows<typeof listExperiments>(route, { path, query })) {
    if (kind !== 'logged') return dataset;
    looked += 1;
    if (looked === maxLooked) break;
  }
  return null;
}
