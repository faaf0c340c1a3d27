import type { endpoint as readEnvironment } from '../../functions/projects/environment/read-environment.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';
import { ProblemError } from '../../shared/client/problem-error.ts';
import type { AnswerOf } from '../../shared/client/route.ts';

/** Read the environment of a project; undefined if it has none yet. */
export async function findEnvironment(
  client: Client,
  project_id: string,
): Promise<AnswerOf<typeof readEnvironment> | undefined> {
  try {
    const route = 'GET /projects/{project_id}/environment';
    return await client.call<typeof readEnvironment>(route, { path: { project_id } });
  } catch (error) {
    if (error instanceof ProblemError && error.status === 404) return undefined;
    throw error;
  }
}
