import { isAbsolute, posix } from 'node:path';

/**
 * The error of a symbolic link of an environment, or null. An absolute target must be one of the interpreters that
 * the environment was built on. A relative one may only climb first and descend after (`../lib/x`, never
 * `a/../../x`), and not above the environment: as every link obeys this, no chain of links can leave either.
 */
export function linkFault(path: string, target: string, interpreters: readonly string[]): string | null {
  if (isAbsolute(target)) return interpreters.includes(target) ? null : 'points outside the environment';
  const segments = target.split('/').filter((segment) => segment !== '' && segment !== '.');
  const climbs = segments.findIndex((segment) => segment !== '..');
  if (target === '' || segments.length === 0) return 'points nowhere';
  if (climbs >= 0 && segments.slice(climbs).includes('..')) return 'climbs after it has descended';
  const landed = posix.normalize(posix.join(posix.dirname(path), target));
  return landed === '..' || landed.startsWith('../') ? 'points outside the environment' : null;
}
