import { chmod, mkdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { packagePlatform } from '../../host/platform.ts';
import { pythonsFolder } from '../job/job-sandbox.ts';
import { type EnvironmentSpec, parseDependencies } from './dependencies/parse-dependencies.ts';
import { type ResolvedDependency, resolveDependencies } from './dependencies/resolved-dependencies.ts';
import type { DownloadCache } from './downloads/download-cache.ts';
import { EnvironmentError } from './environment-error.ts';
import { EnvironmentFolder } from './environment-folder.ts';
import { wheelsFolder } from './host-wheels.ts';
import { type IndexVariables, indexFault, noIndexes } from './index-variables.ts';
import type { ObtainedEnvironment } from './install/build-environment.ts';
import { installerMessage, type RunCommand, stopped } from './install/installer.ts';
import { probeInterpreter } from './install/interpreter.ts';
import type { ManagedPythons } from './install/managed-pythons.ts';
import { nodeVariables } from './install/node-environment.ts';
import { moduleVariables, pythonVariables } from './install/python-environment.ts';
import { uvProgram } from './install/uv-program.ts';
import { obtainEnvironment } from './obtain-environment.ts';
import {
  engineEnvironment,
  installerEnvironment,
  searchPath,
  type Variables,
} from './operator-environment.ts';
import { requestKey } from './request-key.ts';
import type { EnvironmentStore } from './stored-environments.ts';
import { trimCaches } from './trim-caches.ts';
import { waitForHostLock } from './wait-for-host-lock.ts';

/**
 * Prepare the environment of a run on this host: none, a cached one, or a new one. Safe for several processes and
 * hosts at the same time, and after any of them was killed.
 * @throws EnvironmentError with a message for `status_reason`
 */
export async function prepareEnvironment(options: PrepareOptions): Promise<PreparedEnvironment> {
  const started = performance.now();
  const prepared = await prepare(options);
  return { ...prepared, seconds: (performance.now() - started) / 1000 };
}

export interface PrepareOptions {
  spec: EnvironmentSpec;
  projectId: string;
  /** Hosts of package indexes that dependencies may name. */
  packageIndexes: readonly string[];
  /** The unpacked source. Links are not followed. */
  sourceFolder: string;
  /** Folder of the host's environments, `<root>/<project>/<key>/`. Created if missing, with mode 0755. */
  root: string;
  store: EnvironmentStore;
  /** Package downloads of all projects in the bucket; none by default. */
  downloads?: DownloadCache;
  /** Runs installers, as `owner` if given. */
  run: RunCommand;
  /** Runs the interpreter's version check without logging its output; default `run`. */
  runProbe?: RunCommand;
  /** Runs the container engine's client, and downloads of uv, with the service's own rights; default `run`. */
  runEngine?: RunCommand;
  /** As `runEngine`, with output in the log; default `runEngine`. */
  runService?: RunCommand;
  /** The unprivileged builder; only if this process is root. */
  owner?: { uid: number; gid: number };
  /** The service's own environment. Only its registry, proxy and certificate settings reach an installer. */
  operatorEnv: Variables;
  /** The project's variables for installers. Default: none. */
  indexes?: IndexVariables;
  log(line: string): void;
  stop: AbortSignal;
  /**
   * Maximum bytes of the host's environments, wheels and downloads; default 30 GB. Beyond it, the least recently used
   * ones are removed.
   */
  maxBytes?: number;
  /** Default: this host's. */
  platform?: string;
}

export interface PreparedEnvironment {
  /** Variables for the command's environment: PATH, VIRTUAL_ENV, NODE_PATH. */
  env: Record<string, string>;
  /** Folder of packages to link next to the source, because `import` does not follow NODE_PATH. */
  nodeModules: string | null;
  /** Content id of the image for `wrapCommand`. */
  image: string | null;
  cache: 'hit' | 'miss' | 'none';
  /** Seconds of the preparation. */
  seconds: number;
  /** Seconds of building saved by the cache. */
  savedSeconds: number;
  /** SHA-256 of the list of installed packages; for an image, of its content. */
  lockHash: string | null;
  requestKey: string | null;
  /** Whether the store has the environment for runs on other hosts. */
  stored: boolean;
}

const nothing = {
  env: {},
  nodeModules: null,
  image: null,
  cache: 'none',
  savedSeconds: 0,
  lockHash: null,
  requestKey: null,
  stored: false,
} as const;

async function prepare(options: PrepareOptions): Promise<Omit<PreparedEnvironment, 'seconds'>> {
  const { spec, operatorEnv, indexes = noIndexes, run, log, stop } = options;
  stopped(stop);
  if (spec.env_type === 'docker') return prepareDocker(options);
  const resolved = await resolveDependencies(spec, options.sourceFolder, options.packageIndexes);
  const { dependencies, required } = resolved;
  // A Python project gets a virtual environment even without dependencies.
  const modulePaths = resolved.folders.map((folder) => join(options.sourceFolder, folder));
  if (spec.env_type === 'system') return { ...nothing, env: moduleVariables(modulePaths) };
  const path = searchPath(operatorEnv);
  if (spec.env_type === 'node' && dependencies.length === 0) {
    return { ...nothing, env: nodeVariables(null, options.sourceFolder, path) };
  }

  const fault = indexFault(indexes, options.packageIndexes);
  if (fault !== null) throw new EnvironmentError('bad-dependencies', fault);

  const projectFolder = await makeProjectFolder(options);
  const root = dirname(projectFolder);
  const probeEnv = installerEnvironment(operatorEnv, '/nonexistent');
  const pythons = await managedPythons(options, root);
  const interpreter = await probeInterpreter(
    spec.env_type,
    options.runProbe ?? run,
    projectFolder,
    probeEnv,
    stop,
    resolved.interpreter,
    pythons,
  );
  const request = {
    envType: spec.env_type,
    dependencies,
    interpreter: interpreter.identity,
    executable: spec.env_type === 'python' ? interpreter.executable : '',
    platform: options.platform ?? packagePlatform(),
    indexes: indexes.addresses,
  };
  const key = requestKey({ ...request, folder: projectFolder });
  const place = new EnvironmentFolder(projectFolder, key);
  const { sourceFolder, store, owner, projectId, runEngine = run, runService = runEngine } = options;
  const facts = { envType: spec.env_type, key, place, dependencies, required, interpreter };
  const work = { ...facts, sourceFolder, store, run };
  const lock = await waitForHostLock(place.folder, stop, () =>
    log('environment: another run on this host is preparing it; waiting'),
  );
  let obtained: ObtainedEnvironment;
  try {
    obtained = await obtainEnvironment({
      ...{ ...work, root, projectId, service: runService },
      uv: () => uvProgram({ ...pythons, probe: options.runProbe ?? run, interpreter, stop }),
      host: join(root, wheelsFolder),
      isShared: canShare(dependencies, indexes),
      operatorEnv,
      indexes,
      log,
      stop,
      ...(owner === undefined ? {} : { owner }),
      ...(options.downloads === undefined ? {} : { downloads: options.downloads }),
    });
    await place.use();
  } finally {
    await lock.release();
  }
  const { removed } = await trimCaches(options.root, options.maxBytes ?? 30 * 1024 ** 3);
  if (removed > 0) log(`environment: ${removed} unused on this host removed to free space`);

  const hit = obtained.cache === 'hit';
  if (hit) log(`environment: cache hit, ${obtained.buildSeconds.toFixed(1)} s of installation saved`);
  const python = spec.env_type === 'python';
  return {
    env: python
      ? pythonVariables(place.folder, path, modulePaths)
      : nodeVariables(place.folder, sourceFolder, path),
    nodeModules: python ? null : join(place.folder, 'node_modules'),
    image: null,
    cache: obtained.cache,
    savedSeconds: hit ? obtained.buildSeconds : 0,
    lockHash: obtained.lockHash,
    requestKey: key,
    stored: obtained.stored,
  };
}

/**
 * Whether wheels of a project may come into the cache of the host: all of them are public, and each has the hash that an
 * index states. A page of `--find-links` states none, and a trusted host need not be the one of that name. Paths of this
 * machine are read with the rights of the build alone.
 */
const canShare = (
  dependencies: readonly ResolvedDependency[],
  { addresses, arePrivate }: IndexVariables,
): boolean =>
  !arePrivate &&
  !dependencies.some((dependency) => dependency.kind === 'option' && dependency.name === 'find-links') &&
  !addresses.some((address) => /^\w+_(?:FIND_LINKS|TRUSTED_HOST)=/.test(address)) &&
  addresses.every((address) => /^\w+=(?:\s*(?:[\w.-]+=)?https?:\/\/\S+)+\s*$/i.test(address));

async function prepareDocker(options: PrepareOptions): Promise<Omit<PreparedEnvironment, 'seconds'>> {
  const { dependencies, faults } = parseDependencies(options.spec);
  const [dependency] = dependencies;
  if (dependency?.kind !== 'image') {
    throw new EnvironmentError('bad-dependencies', faults.map((fault) => fault.message).join('; '));
  }
  const run = options.runEngine ?? options.run;
  const env = engineEnvironment(options.operatorEnv);
  const { id, pulled } = await prepareImage(
    dependency.reference,
    run,
    options.sourceFolder,
    env,
    options.stop,
  );
  options.log(`environment: image ${id.slice(0, 19)} ${pulled ? 'pulled' : 'is present'}`);
  return {
    ...nothing,
    env: {},
    image: id,
    cache: pulled ? 'miss' : 'hit',
    lockHash: id.slice('sha256:'.length),
  };
}

interface PreparedImage {
  /** The image's content id (`sha256:…`). Later commands use it, because a tag may move. */
  id: string;
  pulled: boolean;
}

const noEngine =
  'A docker environment needs a container engine. Install Docker, start it, and allow the user who runs the service to use it (`docker info` must work).';

/**
 * Find the engine and the image. Pull the image if the engine does not have it. These commands use the service's
 * own rights; nothing of the image runs here.
 * @throws EnvironmentError `engine-missing`; `install-failed` with the engine's message
 */
async function prepareImage(
  reference: string,
  run: RunCommand,
  cwd: string,
  env: Record<string, string>,
  stop: AbortSignal,
): Promise<PreparedImage> {
  const docker = async (...args: string[]) => {
    stopped(stop);
    const result = await run({ argv: ['docker', ...args], cwd, env });
    stopped(stop);
    return result;
  };
  const info = await docker('info', '--format', '{{.ServerVersion}}');
  if (info.exitCode !== 0) throw new EnvironmentError('engine-missing', noEngine);

  const inspect = async () => {
    const result = await docker('image', 'inspect', '--format', '{{.Id}}', reference);
    return result.exitCode === 0 ? /\bsha256:[0-9a-f]{64}\b/.exec(result.tail)?.[0] : undefined;
  };
  const present = await inspect();
  if (present !== undefined) return { id: present, pulled: false };
  const pull = await docker('pull', '--quiet', reference);
  const pulled = pull.exitCode === 0 ? await inspect() : undefined;
  if (pulled !== undefined) return { id: pulled, pulled: true };
  throw new EnvironmentError(
    'install-failed',
    installerMessage(pull.tail) || `docker could not pull ${reference}`,
  );
}

/** Make the folder of the interpreters that uv downloads, which belongs to the service. */
async function managedPythons(
  { run, runEngine = run, operatorEnv, log }: PrepareOptions,
  root: string,
): Promise<ManagedPythons> {
  const folder = join(root, pythonsFolder);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  await chmod(folder, 0o755);
  return { folder, run: runEngine, operatorEnv, log };
}

async function makeProjectFolder({ root, projectId, owner }: PrepareOptions): Promise<string> {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(projectId))
    throw new TypeError('a project id names one folder');
  await mkdir(root, { recursive: true, mode: 0o755 });
  const folder = join(await realpath(root), projectId);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  // The builder must be able to pass through, regardless of the umask.
  if (owner !== undefined) for (const passed of [root, folder]) await chmod(passed, 0o755);
  return folder;
}
