import * as z from 'zod';
import { badRequest, ServiceError } from '../../../shared/core/service-error.ts';
import type { Settings } from '../../../shared/core/settings.ts';
import { tryParseJson } from '../../../shared/core/text/try-parse-json.ts';
import { findVariablesKey, readVariables } from '../../../shared/data/projects/variable.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { isForExport, LostVariablesError, openVariables } from '../../../shared/jobs/submission.ts';
import { guardedFetch } from '../../../shared/outgoing/guarded-fetch.ts';

interface Asking {
  records: TableReader<'records'>;
  /** Table with the key of secret variables. */
  keys: TableReader<'accounts'>;
  settings: Pick<Settings, 'modelHub' | 'hookHosts'>;
}

/**
 * Ask the Hub once which commit a revision names, so that all attempts of an export read the files of one commit.
 * @returns null if the Hub is away, limits requests, or is one that only the job may reach: the job asks it then
 * @throws ServiceError 400 if the Hub has no such model or revision
 */
export async function resolveRevision(
  { hf, revision = 'main' }: { hf: string; revision?: string | undefined },
  project_id: string | undefined,
  { records, keys, settings }: Asking,
): Promise<string | null> {
  if (isCommit(revision)) return revision;
  const variables =
    project_id === undefined ? new Map<string, string>() : await variablesOf(project_id, { records, keys });
  const hub = hubOf(variables.get('HF_ENDPOINT'), settings);
  const token = variables.get('HF_TOKEN');
  const fetch = guardedFetch({ admitted: hub.admitted, variable: 'HOOK_HOSTS' });
  const headers = { Accept: 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
  const path = `/api/models/${hf}/revision/${encodeURIComponent(revision)}?expand=sha`;
  try {
    let url = new URL(hub.address + path);
    for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
      const answer = await fetch(url.href, { headers });
      const location = answer.headers.get('location');
      const next = location === null ? null : URL.parse(location, url.href);
      // A model that was renamed. The token goes to no other server.
      if (answer.status >= 300 && answer.status < 400 && next?.origin === url.origin) url = next;
      else return commitOf(answer, await answer.text(), { hf, revision, hasToken: Boolean(token) });
    }
    return null;
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    // The network, a time limit, or an address that this service must not reach. The job may reach it.
    return null;
  }
}

const isCommit = (revision: string): boolean => /^[0-9a-f]{40}$/.test(revision);

const maxRedirects = 2;

/** The address of the Hub. The operator's own may be in this network, that of a project is admitted as receivers of hooks are. */
function hubOf(
  stated: string | undefined,
  { modelHub, hookHosts }: Asking['settings'],
): { address: string; admitted: readonly string[] } {
  const address = (stated || modelHub).replace(/\/+$/, '');
  if (stated) return { address, admitted: hookHosts };
  const { hostname, port, protocol } = new URL(modelHub);
  return { address, admitted: [`${hostname}:${port || (protocol === 'http:' ? 80 : 443)}`] };
}

/** The variables of a project that its exports get. @throws ServiceError `conflict` if a secret cannot be decrypted any more */
async function variablesOf(
  project_id: string,
  { records, keys }: Pick<Asking, 'records' | 'keys'>,
): Promise<ReadonlyMap<string, string>> {
  const { variables } = await readVariables(records, project_id);
  const stored = variables.filter(isForExport);
  const key = stored.some(({ sealed }) => sealed !== null) ? await findVariablesKey(keys) : undefined;
  try {
    return new Map(openVariables(key, project_id, stored).map(({ name, value }) => [name, value]));
  } catch (error) {
    if (error instanceof LostVariablesError) throw new ServiceError('conflict', error.message);
    throw error;
  }
}

const Described = z.object({ sha: z.string().refine(isCommit) });

function commitOf(
  { status, headers }: Response,
  text: string,
  { hf, revision, hasToken }: { hf: string; revision: string; hasToken: boolean },
): string | null {
  if (status === 200) return Described.safeParse(tryParseJson(text)).data?.sha ?? null;
  // Other answers may come from a proxy, which knows nothing of models.
  const code = headers.get('x-error-code');
  const refuse = (message: string) => badRequest([{ in: 'body', name: 'source', message }]);
  if (code === 'RevisionNotFound') throw refuse(`has a revision that ${hf} does not have: ${revision}`);
  const hint = hasToken
    ? 'for the HF_TOKEN of the project'
    : 'without a token; if it is private, give the project one (HF_TOKEN)';
  if (code === 'RepoNotFound') throw refuse(`names a model that the Hub does not have ${hint}: ${hf}`);
  return null;
}
