import { chmod, chown, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorText } from '../../../core/error-text.ts';
import type { HostLock } from '../../../host/host-lock.ts';
import { copyPackages } from '../dependencies/resolved-dependencies.ts';
import type { DownloadCache } from '../downloads/download-cache.ts';
import type { CompleteEnvironment, EnvironmentFolder } from '../environment-folder.ts';
import { type IndexVariables, npmSettings } from '../index-variables.ts';
import { installerEnvironment, type Variables, withProjectIndexes } from '../operator-environment.ts';
import { packEnvironment } from '../pack/pack-environment.ts';
import { giveFolders, sealEnvironment } from '../pack/seal-environment.ts';
import { openProjectCache } from '../project-cache.ts';
import { refuseCredentials } from '../refuse-credentials.ts';
import { removeTree } from '../remove-tree.ts';
import type { EnvironmentStore } from '../stored-environments.ts';
import { waitForHostLock } from '../wait-for-host-lock.ts';
import type { EnvironmentBuild } from './builder-input.ts';
import { lockHash, nodeLock, pythonLock } from './installed-list.ts';
import { type RunCommand, stopped, writeOwn, writeReadable } from './installer.ts';
import { buildNode } from './node-environment.ts';
import { pipConfig } from './pip-config.ts';
import { buildPython, constraintsFile, requirementsFile } from './python-environment.ts';

export interface ObtainedEnvironment extends CompleteEnvironment {
  cache: 'hit' | 'miss';
  /** Whether the store has it. */
  stored: boolean;
}

/**
 * Build an environment in its folder, seal it, mark it complete and store its pack. The caller holds the host's lock
 * and the store's claim. Files of a failed build are removed. A pack that cannot be stored is only logged, because
 * this host has the environment.
 * @param earlierLock packages of an earlier build, whose versions are installed again if the indexes still have them
 * @throws EnvironmentError
 */
export async function buildEnvironment(
  options: ObtainOptions,
  earlierLock?: string,
): Promise<ObtainedEnvironment> {
  const { place, key, log } = options;
  const started = performance.now();
  const scratch = place.scratch();
  const alone = await onlyBuild(options);
  try {
    const { lock, bytes, installer } = await installSealed(options, scratch, earlierLock);
    const buildSeconds = (performance.now() - started) / 1000;
    const built = { key, lockHash: lockHash(lock), buildSeconds, bytes };
    await place.complete(built);
    log(`environment: built with ${installer} in ${buildSeconds.toFixed(1)} s`);
    const stored = await storePack(options, { scratch, lock, buildSeconds });
    return { ...built, cache: 'miss', stored };
  } catch (error) {
    if ((await place.read()) === null) await place.wipe();
    throw error;
  } finally {
    await removeTree(scratch);
    await alone?.release();
  }
}

/**
 * Lock the builds of the project, if they have no user of their own: code of one could replace the Python of another, which
 * the service runs.
 */
async function onlyBuild({ owner, place, stop, log }: ObtainOptions): Promise<HostLock | undefined> {
  if (owner !== undefined) return undefined;
  return waitForHostLock(join(dirname(place.folder), 'build'), stop, () =>
    log('environment: another build of this project is running; waiting'),
  );
}

/** What a build gets as it is. */
type BuildOptions = Pick<
  EnvironmentBuild,
  'dependencies' | 'required' | 'interpreter' | 'run' | 'uv' | 'host' | 'isShared' | 'log' | 'stop'
>;

export interface ObtainOptions extends BuildOptions {
  envType: 'python' | 'node';
  key: string;
  place: EnvironmentFolder;
  sourceFolder: string;
  store: EnvironmentStore;
  downloads?: DownloadCache;
  /** Runs programs with the service's own rights. */
  service: RunCommand;
  /** Folder of the host's environments. */
  root: string;
  projectId: string;
  operatorEnv: Variables;
  indexes: IndexVariables;
  owner?: { uid: number; gid: number };
}

async function installSealed(options: ObtainOptions, scratch: string, earlierLock = '') {
  const { place, owner, interpreter, dependencies, envType, indexes } = options;
  const { folder } = place;
  const build = await makeBuild(options, scratch);
  await mkdir(folder, { mode: 0o755 });
  const { installer, linked } =
    envType === 'python' ? await installPython(options, build, earlierLock) : await installNode(build);
  stopped(build.stop);
  const { bytes } = sealEnvironment(folder, {
    interpreters: [interpreter.executable],
    ...(owner === undefined ? {} : { owner }),
    linked,
  });
  await refuseCredentials(folder, indexes.credentials);
  return { lock: await lockOf({ place, envType, dependencies }), bytes, installer };
}

async function installPython(
  { root, projectId, indexes }: ObtainOptions,
  build: EnvironmentBuild,
  earlierLock: string,
) {
  await writeReadable(join(build.packages, 'requirements.txt'), requirementsFile(build));
  await writeReadable(join(build.packages, 'constraints.txt'), constraintsFile(build));
  const earlier = earlierLock.match(/^[\w.-]+==[\w.!+]+$/gm) ?? [];
  const path = build.env['UV_CACHE_DIR'] ?? '';
  const { owner } = build;
  // What came with a password is kept nowhere.
  const cache = indexes.arePrivate ? undefined : await openProjectCache(root, projectId, path, owner);
  await mkdir(path, { recursive: true, mode: 0o755 });
  if (owner !== undefined) await chown(path, owner.uid, owner.gid);
  try {
    return await buildPython(build, earlier);
  } finally {
    await cache?.close();
  }
}

async function installNode(build: EnvironmentBuild) {
  if (build.owner !== undefined) giveFolders(build.folder, build.owner);
  return { installer: await buildNode(build), linked: new Set<string>() };
}

/** Prepare the folders of a build next to the environment, and the input of its installers. */
async function makeBuild(options: ObtainOptions, scratch: string): Promise<EnvironmentBuild> {
  const { place, owner, interpreter, stop, run, indexes, log, required, dependencies, host, isShared } =
    options;
  const home = join(scratch, 'home');
  const packages = join(scratch, 'packages');
  const service = join(scratch, 'service');
  await mkdir(packages, { recursive: true, mode: 0o755 });
  await mkdir(join(home, 'tmp'), { recursive: true, mode: 0o755 });
  await mkdir(join(service, 'tmp'), { recursive: true, mode: 0o700 });
  await mkdir(host, { recursive: true, mode: 0o700 });
  const copies = await copyPackages(dependencies, options.sourceFolder, packages);
  // The builder owns only these. The copied packages and the folders above belong to the service.
  if (owner !== undefined) {
    for (const passed of [scratch, packages]) await chmod(passed, 0o755);
    for (const own of [home, join(home, 'tmp')]) await chown(own, owner.uid, owner.gid);
  }
  const settings = npmSettings(indexes);
  if (settings !== undefined) await writeReadable(join(home, '.npmrc'), settings);
  if (indexes.netrc !== undefined) await writeOwn(join(home, '.netrc'), indexes.netrc, owner);
  const { NPM_TOKEN } = indexes.values;
  const operatorEnv = { ...(await pipConfig(options.operatorEnv)), ...options.operatorEnv };
  const env = {
    ...installerEnvironment(withProjectIndexes(operatorEnv, indexes.values), home),
    UV_CACHE_DIR: join(scratch, 'cache'),
    ...(NPM_TOKEN !== undefined && { NPM_TOKEN }),
  };
  // What is private reaches the builder alone.
  const ofProject = isShared ? indexes.values : {};
  const ofService = installerEnvironment(withProjectIndexes(operatorEnv, ofProject), service);
  return {
    ...{ folder: place.folder, packages, copies, dependencies, required, interpreter },
    ...{ run, env, stop, log, scratch, owner, host, isShared, uv: options.uv, downloads: options.downloads },
    service: { run: options.service, env: { ...ofService, UV_CACHE_DIR: host } },
  };
}

/** List the packages of a sealed environment. */
const lockOf = ({
  place: { folder },
  envType,
  dependencies,
}: Pick<ObtainOptions, 'place' | 'envType' | 'dependencies'>): Promise<string> =>
  envType === 'python' ? pythonLock(folder, dependencies) : nodeLock(folder);

interface PackToStore {
  scratch: string;
  lock: string;
  buildSeconds: number;
}

async function storePack(options: ObtainOptions, { scratch, lock, buildSeconds }: PackToStore) {
  const { place, key, store, stop, log } = options;
  try {
    if (!store.keepsPacks) {
      await store.save(key, { file: undefined, lock, lockHash: lockHash(lock), buildSeconds });
      return true;
    }
    const started = performance.now();
    const file = join(scratch, 'pack.tar.zst');
    const bytes = await packEnvironment(place.folder, file, stop);
    const packSeconds = (performance.now() - started) / 1000;
    await store.save(key, { file, lock, lockHash: lockHash(lock), buildSeconds });
    log(`environment: packed ${(bytes / 1e6).toFixed(1)} MB in ${packSeconds.toFixed(1)} s and stored`);
    return true;
  } catch (error) {
    stopped(stop);
    log(`environment: could not be stored for later runs: ${errorText(error)}`);
    return false;
  }
}

/**
 * Store the pack of an environment that is complete on this host but not in the store, because its builder died first.
 * The caller holds the host's lock and the store's claim. Returns false if it cannot be stored.
 */
export async function storeComplete(options: ObtainOptions, buildSeconds: number): Promise<boolean> {
  const scratch = options.place.scratch();
  try {
    await mkdir(scratch, { mode: 0o755 });
    return await storePack(options, { scratch, lock: await lockOf(options), buildSeconds });
  } finally {
    await removeTree(scratch);
  }
}
