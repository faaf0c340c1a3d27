import { createHash } from 'node:crypto';
import type { ResolvedDependency } from './dependencies/resolved-dependencies.ts';
import type { IndexVariables } from './index-variables.ts';
import { installerSettings, type Variables } from './operator-environment.ts';

/**
 * Return the digest of all settings that decide where the build of a source distribution gets its tools: options of the
 * dependencies, variables of the project, and settings of the operator. Projects share what a build made only if theirs are
 * the same. Null if it must not be shared: the files of a page or folder of `--find-links` are in no key.
 */
export function buildReach(
  dependencies: readonly ResolvedDependency[],
  { addresses, arePrivate }: IndexVariables,
  operatorEnv: Variables,
): string | null {
  const options = dependencies.flatMap((dependency) =>
    dependency.kind === 'option' ? [[dependency.name, dependency.value]] : [],
  );
  const findsLinks =
    options.some(([name]) => name === 'find-links') ||
    addresses.some((address) => /^\w+_FIND_LINKS=/.test(address));
  if (findsLinks || arePrivate) return null;
  const operator = Object.entries(installerSettings(operatorEnv)).sort();
  return createHash('sha256')
    .update(JSON.stringify([options, addresses, operator]))
    .digest('hex');
}
