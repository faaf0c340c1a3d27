import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyEndpoint } from '../../shared/http/definition/middleware.ts';
import { isOperation } from '../../shared/http/definition/request-method.ts';

/** Load the endpoints without proxies, which are not operations of the OpenAPI document. */
export const loadOperations = async (folder: string): Promise<LoadedEndpoint[]> =>
  (await loadEndpoints(folder)).filter(({ endpoint }) => isOperation(endpoint));

export interface LoadedEndpoint {
  /** File of the endpoint, relative to the folder it was loaded from. */
  file: string;
  endpoint: AnyEndpoint;
}

/** Load every endpoint below `folder`. */
export async function loadEndpoints(folder: string): Promise<LoadedEndpoint[]> {
  const files = await endpointFiles(folder);
  return Promise.all(
    files.map(async (file) => loaded(file, await import(pathToFileURL(join(folder, file)).href))),
  );
}

/**
 * Return the files named `*.endpoint.ts` below `folder`, relative to it. To add an endpoint, here and on AWS, add
 * such a file.
 */
export const endpointFiles = async (folder: string): Promise<string[]> =>
  (await Array.fromAsync(glob('**/*.endpoint.ts', { cwd: folder }))).sort();

function loaded(file: string, module: unknown): LoadedEndpoint {
  if (!isEndpointModule(module)) throw new Error(`${file} must export endpoint`);
  return { file, endpoint: module.endpoint };
}

function isEndpointModule(module: unknown): module is { endpoint: AnyEndpoint } {
  return typeof module === 'object' && module !== null && 'endpoint' in module;
}

/** Name, without its extension, of the module that holds all endpoints in the bundle of the local run. */
export const bundledEndpoints = 'functions/endpoints';

/** Load every endpoint of such a bundle. */
export async function loadBundledEndpoints(folder: string): Promise<LoadedEndpoint[]> {
  const { href } = pathToFileURL(join(folder, `${bundledEndpoints}.js`));
  const { modules }: { modules: Readonly<Record<string, unknown>> } = await import(href);
  return Object.entries(modules).map(([name, module]) => loaded(name, module));
}
