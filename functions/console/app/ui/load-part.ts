import { Client } from '../../../../shared/client/client.ts';
import { usualRetries } from '../../../../shared/client/retry.ts';
import type { endpoint as readConsoleFile } from '../../read-console-file.endpoint.ts';
import { serviceUrl } from '../api/session.ts';

/** Client without a token, because the files are public and the token may have expired. */
const client = new Client({ url: serviceUrl, retries: usualRetries });

/** Load a file of the console, which the browser then has in its cache. @throws as Client.call does */
export async function loadFile(file: string): Promise<ArrayBuffer> {
  const response = await client.open<typeof readConsoleFile>('GET /console/{file}', { path: { file } });
  return response.arrayBuffer();
}

/** Return the files of each part, from the page's data attribute. */
function partFiles(): Readonly<Record<string, readonly string[]>> {
  const { parts } = document.documentElement.dataset;
  return parts === undefined ? {} : JSON.parse(parts);
}

/**
 * Load a part of the console: first its files, with retries, then the module from the browser's cache. The build
 * turns every dynamic import of the console into a call of this function.
 */
export async function loadPart<Part>(name: string, load: () => Promise<Part>): Promise<Part> {
  for (const file of partFiles()[name] ?? []) await loadFile(file);
  return load();
}
