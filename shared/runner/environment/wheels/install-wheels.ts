import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { EnvironmentBuild } from '../install/builder-input.ts';
import { stopped } from '../install/installer.ts';
import { isBundled } from '../installed-wheels.ts';
import { giveFolders, sealEnvironment } from '../pack/seal-environment.ts';
import { removeTree } from '../remove-tree.ts';
import { buildWheel } from './build-wheel.ts';
import { type LinkTarget, linkFacts, linkWheel, removePackage } from './link-wheel.ts';
import { type InstallWheels, type PlannedPackage, planWheels, type WheelPlan } from './plan-wheels.ts';
import type { KeptWheel, NewWheel, WheelStore } from './wheel-store.ts';

/** The packages that came from the store. */
export interface InstalledWheels {
  wheels: readonly KeptWheel[];
  /** Names of packages that pip must install itself; `?` if it did not say which. */
  rest: readonly string[];
  /** Device and inode of each linked file. */
  linked: ReadonlySet<string>;
}

/**
 * Install into an empty virtual environment what the host's store of wheels has, and what can be added to it: wheels of
 * the indexes, and source distributions, each built by itself. pip decides what is needed, by a trial; what it must
 * install itself is `rest`. The environment is sealed before code of a package runs.
 * @throws EnvironmentError `stopped`; other errors if files could not be unpacked or linked
 */
export async function installWheels(
  build: EnvironmentBuild,
  store: WheelStore,
  given: InstallWheels,
): Promise<InstalledWheels> {
  const { folder, interpreter, owner, log, stop } = build;
  const linked = new Set(given.linked);
  sealEnvironment(folder, { interpreters: [interpreter.executable], linked, ...(owner && { owner }) });
  const target: LinkTarget = {
    folder,
    site: await siteOf(folder),
    canLink: owner !== undefined,
    linked,
  };
  const known = await store.known();
  const guesses = known.filter(({ name }) => !isBundled(name));
  const planned = await planFrom(build, given, target, guesses);
  if (planned === null) {
    if (owner !== undefined) giveFolders(folder, owner);
    return { wheels: [], rest: ['?'], linked: target.linked };
  }
  const { plan, needed } = planned;
  const fresh: NewWheel[] = [];
  const rest: string[] = [];
  const sources: PlannedPackage[] = [];
  for (const one of plan.missing) {
    // pip itself is the program that builds.
    const file = one.name === 'pip' ? undefined : given.relay.fileOf(one.url);
    const isWheel = file?.filename.endsWith('.whl') === true;
    const kept = known.find(({ sha256, isBuilt }) => sha256 === file?.sha256 && !isBuilt);
    if (file?.sha256 === undefined || (isBundled(one.name) && !isWheel)) rest.push(one.name);
    else if (!isWheel) sources.push(one);
    else if (kept !== undefined) needed.push(kept);
    else fresh.push({ ...one, sha256: file.sha256, isBuilt: false, file: await given.relay.obtain(one.url) });
    stopped(stop);
  }
  for (const source of sources) {
    const built = await buildWheel(build, given, source);
    if (built === null) rest.push(source.name);
    else fresh.push(built);
    stopped(stop);
  }
  const scratch = join(build.scratch, 'wheels');
  const added = fresh.length === 0 ? [] : await store.keep(fresh, scratch, given.compile, owner);
  const all = [...needed, ...added];
  for (const { name } of all) if (isBundled(name)) await removePackage(name, target);
  for (const wheel of all) await linkWheel(wheel.tree, target);
  for (const wheel of needed) await store.noteUse(wheel).catch(() => undefined);
  if (needed.length > 0)
    log(
      `environment: ${needed.length} of ${needed.length + fresh.length + rest.length} packages are installed on this host`,
    );
  if (rest.length > 0 && owner !== undefined) giveFolders(folder, owner);
  await removeTree(scratch);
  return { wheels: all, rest, linked: target.linked };
}

interface Planned {
  plan: WheelPlan;
  needed: KeptWheel[];
}

/**
 * Plan with the facts of known wheels in place, so that pip does not download what the store has. A wheel that the
 * indexes do not have is left out, and the plan made again.
 */
async function planFrom(
  { probe, packages, stop }: EnvironmentBuild,
  { relay, command, env }: InstallWheels,
  target: LinkTarget,
  guesses: readonly KeptWheel[],
): Promise<Planned | null> {
  let left = [...guesses];
  for (let turn = 0; ; turn += 1) {
    const facts: string[] = [];
    for (const { tree } of left) facts.push(await linkFacts(tree, target));
    const plan = await planWheels(probe, command, packages, env);
    stopped(stop);
    for (const folder of facts) await removeTree(folder);
    if (plan === null) return null;
    const missing = new Set(plan.missing.map(({ name }) => name));
    const needed = left.filter(({ name }) => plan.satisfied.has(name) && !missing.has(name));
    const { named } = relay.record;
    const unknown = needed.filter(({ sha256 }) => !named.has(sha256));
    if (unknown.length === 0) return { plan, needed };
    left = turn === 2 ? [] : left.filter((one) => !unknown.includes(one));
  }
}

/** The folder of packages of a virtual environment, relative to it. */
async function siteOf(folder: string): Promise<string> {
  const name = (await readdir(join(folder, 'lib'))).find((one) => /^python\d/.test(one));
  if (name === undefined) throw new TypeError(`${folder} is no virtual environment`);
  return join('lib', name, 'site-packages');
}
