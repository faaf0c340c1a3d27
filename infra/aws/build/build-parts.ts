import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { type LoadedEndpoint, loadEndpoints } from '../../service/endpoints.ts';
import { methodTable } from '../../service/routes.ts';
import { type LoadedTask, loadTasks } from '../../service/tasks.ts';
import { prepareImageContext } from '../job-image/context.ts';
import { bundleFunctions, type FunctionBundle } from './function-bundles.ts';
import { addOnnxRuntime, onnxRuntime } from './onnx-runtime.ts';
import { codecFolder, installPictureCodec } from './picture-codec.ts';

/**
 * Find and bundle all parts of a deployment in a few seconds. This needs neither an account nor Docker. npm
 * downloads the picture codec for the functions' processors once per version.
 *
 * @param root folder of the project
 * @param folder output folder of the bundles
 */
export async function buildParts(root: string, folder: string): Promise<DeploymentParts> {
  const sources = await findSources(root);
  const imageFolder = join(folder, 'job-image');
  const [bundles] = await Promise.all([
    bundleSources(root, join(folder, 'functions'), sources),
    prepareImageContext(root, imageFolder),
  ]);
  await addNative(root, bundles, sources);
  const byName = new Map(bundles.map((bundle) => [bundle.name, bundle.folder]));
  return {
    endpoints: sources.endpoints.map(({ endpoint }) => endpoint),
    events: sources.events,
    jobs: sources.jobs,
    imageFolder,
    folderOf(name) {
      const found = byName.get(name);
      if (found === undefined) throw new Error(`there is no bundle of ${name}`);
      return found;
    },
  };
}

/** Endpoints, events, jobs and bundles for the stacks. */
export interface DeploymentParts {
  endpoints: readonly AnyEndpoint[];
  events: readonly LoadedTask[];
  jobs: readonly LoadedTask[];
  /** Return the folder of a function's bundle. @throws if there is none */
  folderOf(name: string): string;
  /** Build context of the job image. */
  imageFolder: string;
}

/** Find every endpoint, event and job. */
export async function findSources(root: string): Promise<Sources> {
  const functions = join(root, 'functions');
  const [endpoints, events, jobs] = await Promise.all([
    loadEndpoints(functions),
    loadTasks(functions, 'event'),
    loadTasks(functions, 'job'),
  ]);
  return { endpoints, events, jobs };
}

/** The functions and jobs in the source tree. */
export interface Sources {
  endpoints: readonly LoadedEndpoint[];
  events: readonly LoadedTask[];
  jobs: readonly LoadedTask[];
}

/** Bundle the functions of endpoints and events, each into its own folder below `folder`. */
export function bundleSources(
  root: string,
  folder: string,
  { endpoints, events }: Sources,
): Promise<FunctionBundle[]> {
  const entries = [
    ...endpoints.map(({ file, endpoint: { name, runtime = {} } }) => ({ file, name, runtime })),
    ...events,
  ].map(({ file, name, runtime: { native = [], programs = {}, start = `functions/${file}` } }) => ({
    file: start,
    name,
    native,
    programs,
  }));
  const methods = methodTable(endpoints.map(({ endpoint }) => endpoint));
  return bundleFunctions(root, folder, entries, methods);
}

/** Add packages with machine code to the bundles that import them. */
async function addNative(
  root: string,
  bundles: readonly FunctionBundle[],
  { endpoints }: Sources,
): Promise<void> {
  const onIntel = new Set(
    endpoints
      .filter(({ endpoint }) => endpoint.runtime?.processor === 'x86_64')
      .map(({ endpoint }) => endpoint.name),
  );
  for (const { name, folder, imports } of bundles) {
    if (imports.length === 0) continue;
    const [foreign] = imports.filter((one) => one !== 'sharp' && one !== onnxRuntime);
    if (foreign !== undefined)
      throw new Error(`${name} imports ${foreign}, but no package of that name is installed next to it`);
    if (imports.includes(onnxRuntime)) await addOnnxRuntime(root, folder);
    if (!imports.includes('sharp')) continue;
    const cpu = onIntel.has(name) ? 'x64' : 'arm64';
    const codec = await codecFolder(root, cpu);
    if (!existsSync(codec)) await installPictureCodec(root, codec, cpu);
    await cp(join(codec, 'node_modules'), join(folder, 'node_modules'), { recursive: true });
  }
}
