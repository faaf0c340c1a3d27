import type { ResolvedDependency } from './dependencies/resolved-dependencies.ts';
import type { RelayRecord } from './downloads/index-relay.ts';
import type { EnvironmentBuild } from './install/builder-input.ts';
import { checkPython } from './install/python-environment.ts';
import { installedWheels } from './installed-wheels.ts';
import { removeTree } from './remove-tree.ts';
import type { SharedEnvironment } from './shared-environment.ts';

/**
 * Make the environment of a build from the one that this host shares, where its indexes still lead to the same
 * wheels: an installer that may choose anew finds nothing to change, and the indexes name every wheel by its SHA-256.
 * Null where it has to be built; then its folder is not there.
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
 * Whether an environment of these dependencies may be shared: all of them are looked for in package indexes. Files of the
 * source, direct URLs and `--find-links` lead elsewhere.
 */
export const isShareable = (dependencies: readonly ResolvedDependency[]): boolean =>
  dependencies.some(({ kind }) => kind === 'package') &&
  dependencies.every(
    (one) =>
      (one.kind === 'package' && !/^[^;]*@/.test(one.spec)) ||
      (one.kind === 'option' && one.name !== 'find-links'),
  );

/** Keep a sealed environment for all projects, where it consists of wheels alone. */
export async function keepShared(
  { folder, log }: EnvironmentBuild,
  shared: SharedEnvironment,
  { list, relayed, bytes }: { list: string; relayed: RelayRecord; bytes: number },
): Promise<void> {
  const wheels = installedWheels(list, relayed.files);
  if (wheels === null) return;
  try {
    await shared.keep(folder, wheels, bytes);
  } catch (error) {
    // This project has its environment all the same.
    log(
      `environment: not kept for other projects: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
