import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorText } from '../../../core/error-text.ts';
import type { HostLock } from '../../../host/host-lock.ts';
import { copyPackages, type ResolvedDependency } from '../dependencies/resolved-dependencies.ts';
import type { DownloadCache } from '../downloads/download-cache.ts';
import type { CompleteEnvironment, EnvironmentFolder } from '../environment-folder.ts';
import { type IndexVariables, npmSettings } from '../index-variables.ts';
import { installerEnvironment, type Variables } from '../operator-environment.ts';
import { packEnvironment } from '../pack/pack-environment.ts';
import { sealEnvironment } from '../pack/seal-environment.ts';
import { refuseCredentials } from '../refuse-credentials.ts';
import { removeTree } from '../remove-tree.ts';
import { keepShared, reuseShared } from '../reuse-shared.ts';
import type { SharedEnvironment } from '../shared-environment.ts';
import type { EnvironmentStore } from '../stored-environments.ts';
import { waitForHostLock } from '../wait-for-host-lock.ts';
import type { WheelStore } from '../wheels/wheel-store.ts';
import type { PlacedRequirement } from './build-fault.ts';
import type { EnvironmentBuild } from './builder-input.ts';
import { lockHash, nodeLock, pythonLock } from './installed-list.ts';
import { type RunCommand, stopped, writeReadable } from './installer.ts';
import type { Interpreter } from './interpreter.ts';
import { buildNode } from './node-environment.ts';
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
    const { lock, bytes, installer, pack } = await installAgain(options, scratch, earlierLock);
    const buildSeconds = (performance.now() - started) / 1000;
    const built = { key, lockHash: lockHash(lock), buildSeconds, bytes };
    await place.complete(built);
    log(`environment: built with ${installer} in ${buildSeconds.toFixed(1)} s`);
    const stored = await storePack(options, { scratch, lock, buildSeconds, pack });
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
 * Lock the builds of the project, if they have no user of their own: code of one could change the files of another before
 * all projects share them.
 */
async function onlyBuild({ owner, place, stop, log }: ObtainOptions): Promise<HostLock | undefined> {
  if (owner !== undefined) return undefined;
  return waitForHostLock(join(dirname(place.folder), 'build'), stop, () =>
    log('environment: another build of this project is running; waiting'),
  );
}

export interface ObtainOptions {
  envType: 'python' | 'node';
  key: string;
  place: EnvironmentFolder;
  dependencies: readonly ResolvedDependency[];
  /** Where the source requires them, for messages. */
  required: readonly PlacedRequirement[];
  interpreter: Interpreter;
  sourceFolder: string;
  store: EnvironmentStore;
  downloads?: DownloadCache;
  run: RunCommand;
  /** As `run`, without output in the log. */
  probe: RunCommand;
  /** The host's shared environment of the same request. Without it nothing is reused. */
  shared?: SharedEnvironment;
  /** The host's store of wheels. */
  wheels?: WheelStore;
  /** The host's virtual environment with pip alone. */
  blank?: SharedEnvironment;
  operatorEnv: Variables;
  indexes: IndexVariables;
  owner?: { uid: number; gid: number };
  log(line: string): void;
  stop: AbortSignal;
}

/** Install the versions of an earlier build, or, if they are no longer there, what the indexes have now. */
async function installAgain(options: ObtainOptions, scratch: string, earlierLock = '') {
  const { place, log, stop } = options;
  const versions = options.envType === 'python' ? (earlierLock.match(/^[\w.-]+==[\w.!+]+$/gm) ?? []) : [];
  if (versions.length === 0) return installSealed(options, scratch, []);
  try {
    return await installSealed(options, scratch, versions);
  } catch (error) {
    stopped(stop);
    log(`environment: the versions of its first build are not available: ${errorText(error)}`);
    await place.wipe();
    return installSealed(options, scratch, []);
  }
}

async function installSealed(options: ObtainOptions, scratch: string, versions: readonly string[]) {
  const { place, owner, interpreter, dependencies, envType, indexes, shared } = options;
  const { folder } = place;
  const build = await makeBuild(options, scratch, versions);
  if (envType === 'python') {
    await writeReadable(join(build.packages, 'requirements.txt'), requirementsFile(build));
    await writeReadable(join(build.packages, 'constraints.txt'), constraintsFile(build));
  }
  const lock = () => lockOf({ place, envType, dependencies });
  const reused = shared === undefined ? null : await reuseShared(build, shared);
  if (reused !== null)
    return { lock: await lock(), bytes: reused.bytes, installer: 'links', pack: 'reused' as const };

  await mkdir(folder, { mode: 0o755 });
  if (owner !== undefined) await chown(folder, owner.uid, owner.gid);
  const { installer, relayed, stored, linked } =
    envType === 'python'
      ? await buildPython(build)
      : { installer: await buildNode(build), relayed: null, stored: null, linked: undefined };
  stopped(build.stop);
  const { bytes } = sealEnvironment(folder, {
    interpreters: [interpreter.executable],
    ...(owner === undefined ? {} : { owner }),
    ...(linked !== undefined && { linked }),
  });
  await refuseCredentials(folder, indexes.credentials);
  const list = await lock();
  const isShared =
    shared !== undefined &&
    relayed !== null &&
    (await keepShared(build, shared, { list, relayed, stored, bytes }));
  return { lock: list, bytes, installer, pack: isShared ? ('shared' as const) : ('own' as const) };
}

/** Prepare the folders of a build next to the environment, and the input of its installers. */
async function makeBuild(
  options: ObtainOptions,
  scratch: string,
  versions: readonly string[],
): Promise<EnvironmentBuild> {
  const { place, owner, interpreter, stop, run, probe, indexes, log, required } = options;
  const dependencies = [
    ...options.dependencies,
    ...versions.map((spec) => ({ kind: 'constraint', spec }) as const),
  ];
  const home = join(scratch, 'home');
  const packages = join(scratch, 'packages');
  await mkdir(packages, { recursive: true, mode: 0o755 });
  await mkdir(join(home, 'tmp'), { recursive: true, mode: 0o755 });
  const copies = await copyPackages(dependencies, options.sourceFolder, packages);
  // The builder owns only these. The copied packages and the folders above belong to the service.
  if (owner !== undefined) {
    for (const passed of [scratch, packages]) await chmod(passed, 0o755);
    for (const own of [home, join(home, 'tmp')]) await chown(own, owner.uid, owner.gid);
  }
  const settings = npmSettings(indexes);
  if (settings !== undefined) await writeReadable(join(home, '.npmrc'), settings);
  if (indexes.netrc !== undefined) await writePrivate(join(home, '.netrc'), `${indexes.netrc}\n`, owner);
  const { NPM_TOKEN } = indexes.values;
  const env = {
    ...installerEnvironment({ ...options.operatorEnv, ...indexes.values }, home),
    ...(NPM_TOKEN !== undefined && { NPM_TOKEN }),
  };
  // Private downloads are not cached for other projects.
  const downloads = indexes.arePrivate ? undefined : options.downloads;
  return {
    ...{ folder: place.folder, packages, copies, dependencies, required, interpreter },
    ...{ run, probe, env, stop, downloads, log, scratch, owner },
    ...{ wheels: options.wheels, blank: options.blank },
  };
}

/** Write a file that only the builder may read. */
async function writePrivate(path: string, text: string, owner: ObtainOptions['owner']): Promise<void> {
  await writeFile(path, text, { flag: 'wx', mode: 0o600 });
  if (owner !== undefined) await chown(path, owner.uid, owner.gid);
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
  /** Whether the environment consists of links to the one that this host shares, is that one, or another one. */
  pack: 'reused' | 'shared' | 'own';
}

async function storePack(options: ObtainOptions, { scratch, lock, buildSeconds, pack }: PackToStore) {
  const { place, key, store, stop, log, shared } = options;
  try {
    if (!store.keepsPacks) {
      await store.save(key, { file: undefined, lock, lockHash: lockHash(lock), buildSeconds });
      return true;
    }
    const started = performance.now();
    const file = join(scratch, 'pack.tar.zst');
    const earlier = pack === 'reused' ? await shared?.pack() : undefined;
    const { bytes, commonAt } = await packEnvironment(place.folder, file, stop, earlier);
    // Other projects get the pack of what they share only. If it cannot be kept, the next environment is packed again.
    if (earlier === undefined && pack !== 'own')
      await shared?.keepPack(file, commonAt).catch(() => undefined);
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
    return await storePack(options, { scratch, lock: await lockOf(options), buildSeconds, pack: 'own' });
  } finally {
    await removeTree(scratch);
  }
}
