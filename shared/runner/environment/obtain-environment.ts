import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorText } from '../../core/error-text.ts';
import { EnvironmentError } from './environment-error.ts';
import {
  buildEnvironment,
  type ObtainedEnvironment,
  type ObtainOptions,
  storeComplete,
} from './install/build-environment.ts';
import { stopped } from './install/installer.ts';
import { unpackEnvironment } from './pack/unpack-environment.ts';
import { removeTree } from './remove-tree.ts';

const pollMilliseconds = 1000;

/**
 * Obtain an environment: from this host, from its pack in the store, or by a build, one builder at a time. The caller
 * holds the host's lock for this key.
 * @throws EnvironmentError
 */
export async function obtainEnvironment(options: ObtainOptions): Promise<ObtainedEnvironment> {
  const { place, key, store, log, stop } = options;
  const here = await place.read();
  if (here !== null) return { ...here, cache: 'hit', stored: await ensureStored(options, here.buildSeconds) };
  await place.wipe();
  await releaseLeft(options);

  let refusedPacks = 0;
  for (let turn = 0; ; turn += 1) {
    stopped(stop);
    const fetched = await fetchPack(options).catch((error: unknown) => {
      if (!(error instanceof EnvironmentError) || error.code !== 'pack-refused' || refusedPacks >= 2)
        throw error;
      refusedPacks += 1;
      log(`environment: ${error.message} Building it again.`);
      return 'refused' as const;
    });
    if (fetched !== null && fetched !== 'refused') return fetched;
    const claim = await store.claimBuild(key);
    if (claim.claimed) {
      const built = await buildUnderClaim(options, claim.holder, fetched === 'refused');
      if (built !== null) return built;
      continue;
    }
    if (turn === 0) log('environment: another run is building it; waiting');
    await delay(pollMilliseconds, undefined, { signal: stop }).catch(() => stopped(stop));
  }
}

/**
 * Store the complete environment of this host if an interrupted run did not. Returns whether other hosts can fetch it.
 */
async function ensureStored(options: ObtainOptions, buildSeconds: number): Promise<boolean> {
  const { key, store, log, stop } = options;
  try {
    if ((await store.find(key)) !== null) return true;
    await releaseLeft(options);
    const claim = await store.claimBuild(key);
    return (
      claim.claimed && (await underClaim(options, claim.holder, () => storeComplete(options, buildSeconds)))
    );
  } catch (error) {
    stopped(stop);
    // The environment on this host works without the store.
    log(`environment: could not be stored for later runs: ${errorText(error)}`);
    return false;
  }
}

/**
 * Release a claim that a dead process of this host left. This process has the host's lock, so another holder on
 * this host is dead, and its claim need not expire first.
 */
async function releaseLeft({ place, key, store }: ObtainOptions): Promise<void> {
  const leftBy = await place.leftClaim();
  if (leftBy === null) return;
  await store.releaseBuild(key, leftBy);
  await place.forgetClaim();
}

/** Work under a claim of this process, and release it. */
async function underClaim<T>(options: ObtainOptions, holder: string, work: () => Promise<T>): Promise<T> {
  const { place, key, store, log } = options;
  try {
    await place.noteClaim(holder);
    return await work();
  } finally {
    await store.releaseBuild(key, holder).catch((error: unknown) => {
      log(`environment: the claim of the build stays until it expires: ${errorText(error)}`);
    });
    await place.forgetClaim();
  }
}

/** Download and unpack the stored pack next to its place, and move it there in one step; null if the store has none. */
async function fetchPack(options: ObtainOptions): Promise<ObtainedEnvironment | null> {
  const { place, key, store, interpreter, stop } = options;
  const found = await store.find(key);
  if (found?.hasPack !== true) return null;
  const scratch = place.scratch();
  try {
    await mkdir(scratch, { mode: 0o755 });
    const file = join(scratch, 'pack.tar.zst');
    await store.download(key, file);
    const folder = join(scratch, 'environment');
    const { bytes } = await unpackEnvironment(file, folder, { interpreters: [interpreter.executable], stop });
    await rename(folder, place.folder);
    const complete = { key, lockHash: found.lockHash, buildSeconds: found.buildSeconds, bytes };
    await place.complete(complete);
    return { ...complete, cache: 'hit', stored: true };
  } catch (error) {
    stopped(stop);
    throw error;
  } finally {
    await removeTree(scratch);
  }
}

/** Build under a claim; null if another builder finished between the read of the store and the claim. */
const buildUnderClaim = (
  options: ObtainOptions,
  holder: string,
  replace: boolean,
): Promise<ObtainedEnvironment | null> =>
  underClaim(options, holder, async () => {
    const found = await options.store.find(options.key);
    if (!replace && found?.hasPack === true) return null;
    return buildEnvironment(options, found?.lock);
  });
