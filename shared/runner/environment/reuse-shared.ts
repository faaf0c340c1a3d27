import { errorText } from '../../core/error-text.ts';
import type { ResolvedDependency } from './dependencies/resolved-dependencies.ts';
import type { RelayRecord } from './downloads/index-relay.ts';
import type { EnvironmentBuild } from './install/builder-input.ts';
import { checkPython } from './install/python-environment.ts';
import { installedWheels } from './installed-wheels.ts';
import { removeTree } from './remove-tree.ts';
import type { SharedEnvironment } from './shared-environment.ts';
import type { InstalledWheels } from './wheels/install-wheels.ts';
import type { KeptWheel } from './wheels/wheel-store.ts';

/**
 * Create the environment of a build from the host's shared one, if its indexes still lead to the same wheels: a
 * trial upgrade changes nothing, and the indexes name the SHA-256 of every wheel. Null if it must be built; its
 * folder then does not exist.
 */
export async function reuseShared(
  build: EnvironmentBuild,
  shared: SharedEnvironment,
): Promise<{ bytes: number } | null> {
  const linked = await shared.linkTo(build.folder);
  if (linked === null) return null;
  const { bytes, wheels } = linked;
  const relayed = await checkPython(build);
  if (relayed !== null && wheels.every(({ sha256 }) => relayed.named.has(sha256))) {
    build.log(`environment: its ${wheels.length} packages are installed on this host`);
    return { bytes };
  }
  await removeTree(build.folder);
  return null;
}

/**
 * Whether an environment may be shared: all its dependencies come from package indexes, not from files of the source,
 * direct URLs or `--find-links`.
 */
export const isShareable = (dependencies: readonly ResolvedDependency[]): boolean =>
  dependencies.some(({ kind }) => kind === 'package') &&
  dependencies.every(
    (dependency) =>
      (dependency.kind === 'package' && !/^[^;]*@/.test(dependency.spec)) ||
      dependency.kind === 'constraint' ||
      (dependency.kind === 'option' && dependency.name !== 'find-links'),
  );

/**
 * Keep a sealed environment for all projects if it consists only of wheels: those of indexes, and those that this host
 * built by themselves. Otherwise say which package keeps it from being shared. Returns whether it is shared.
 */
export async function keepShared(
  { folder, log }: EnvironmentBuild,
  shared: SharedEnvironment,
  { list, relayed, stored, bytes }: Installed,
): Promise<boolean> {
  const isWhole = stored !== null && stored.rest.length === 0;
  const wheels = isWhole ? stored.wheels.map(wheelOf) : installedWheels(list, relayed.files);
  if (wheels === null) {
    log(`environment: not shared as a whole with other projects: ${whyUnshared(stored)}`);
    return false;
  }
  try {
    return await shared.keep(folder, wheels, bytes);
  } catch (error) {
    // This project's environment is complete without it.
    log(`environment: not kept for other projects: ${errorText(error)}`);
    return false;
  }
}

/** An installation that may be kept. */
interface Installed {
  list: string;
  relayed: RelayRecord;
  stored: InstalledWheels | null;
  bytes: number;
}

/** Say which packages the installer had to install itself: their code may have run in the environment. */
function whyUnshared(stored: InstalledWheels | null): string {
  const names = (stored?.rest ?? []).filter((name) => name !== '?');
  const shown =
    names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ');
  return names.length === 0
    ? 'not all of its packages are wheels of an index'
    : `${shown}: installed for this project alone`;
}

const wheelOf = ({ name, version, sha256 }: KeptWheel) => ({ name, version, sha256 });
