import { Client } from '../../../../shared/client/client.ts';
import { usualRetries } from '../../../../shared/client/retry.ts';
import type { endpoint as readConsoleFile } from '../../read-console-file.endpoint.ts';
import { serviceUrl } from '../api/session.ts';

/** Files are anybody's: they are asked for without the token, which may be dead. */
const client = new Client({ url: serviceUrl, retries: usualRetries });

/** A file of the console, in the cache of the browser once this has resolved. @throws as Client.call does */
export async function loadFile(file: string): Promise<void> {
  const response = await client.open<typeof readConsoleFile>('GET /console/{file}', { path: { file } });
  await response.arrayBuffer();
}

/** The files of each part, as the page names them. */
function partFiles(): Readonly<Record<string, readonly string[]>> {
  const { parts } = document.documentElement.dataset;
  return parts === undefined ? {} : JSON.parse(parts);
}

/**
 * Load a part of the console: first its files, each of which is tried again where the service refuses it for the moment,
 * and then the module, which the browser has by then. Every dynamic import of the console is built into a call of this.
 */
export async function loadPart<Part>(name: string, load: () => Promise<Part>): Promise<Part> {
  for (const file of partFiles()[name] ?? []) await loadFile(file);
  return load();
}
