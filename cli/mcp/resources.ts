import type { endpoint as readLogs } from '../../functions/experiments/records/read-logs.endpoint.ts';
import { CliError } from '../cli-error.ts';
import type { Agent } from './agent.ts';
import { dataNote, plainText } from './answer-text.ts';
import { compressionOf } from './compression-tools.ts';
import { runOf } from './reading-tools.ts';

/** What a client can read whole. The addresses hold IDs alone, and lead nowhere but to the service. */
export const resourceTemplates = [
  { uriTemplate: 'mps://runs/{project}/{run}', name: 'run', description: 'A run with all its facts.' },
  {
    uriTemplate: 'mps://runs/{project}/{run}/log',
    name: 'log',
    description: 'The last 10,000 lines of its log.',
  },
  {
    uriTemplate: 'mps://compressions/{compression}',
    name: 'receipt',
    description: 'A compression with its whole receipt.',
  },
].map((template) => ({ ...template, mimeType: 'text/plain' }));

const id = '[0-7][0-9a-hjkmnp-tv-z]{25}';
const ofRun = new RegExp(`^mps://runs/(${id})/(${id})(/log)?$`);
const ofCompression = new RegExp(`^mps://compressions/(${id})$`);

/** Most characters of a resource. */
const maxCharacters = 1_000_000;

/** Return a resource as text. @throws CliError if there is none of this address */
export async function readResource(agent: Agent, uri: string): Promise<string> {
  const [, project, run = '', log] = ofRun.exec(uri) ?? [];
  const [, compression] = ofCompression.exec(uri) ?? [];
  if (project !== undefined) {
    const experiment = await runOf(agent, { project, run });
    return marked(
      log === undefined ? JSON.stringify(experiment, undefined, 1) : await logOf(agent, project, run),
    );
  }
  if (compression !== undefined)
    return marked(JSON.stringify((await compressionOf(agent, { compression })).compression, undefined, 1));
  throw new CliError(
    `There is no resource ${uri}. The templates are ${resourceTemplates.map(({ uriTemplate }) => uriTemplate).join(', ')}.`,
  );
}

const marked = (text: string): string =>
  `${dataNote.replace('"data"', 'what follows')}\n${plainText(text).slice(-maxCharacters)}`;

async function logOf({ session }: Agent, project_id: string, experiment_id: string): Promise<string> {
  const route = 'GET /projects/{project_id}/experiments/{experiment_id}/logs';
  const { rows } = await session.client.page<typeof readLogs>(route, {
    path: { project_id, experiment_id },
    query: { tail: 10_000 },
  });
  return rows.map(({ message }) => message).join('\n');
}
