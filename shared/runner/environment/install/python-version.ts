/**
 * Whether a version of Python meets a condition, by the rules of PEP 440 for release numbers. A pre-release (`3.15.0a2`)
 * counts as its release.
 *
 * @param condition comparisons joined by commas, all of which must hold
 * @example allowsVersion('>=3.10,<3.12', '3.11.2') // true
 * @example allowsVersion('==3.12.*', '3.11.2') // false
 */
export function allowsVersion(condition: string, version: string): boolean {
  const has = release(version);
  return condition
    .split(',')
    .filter((part) => part.trim() !== '')
    .every((part) => {
      const [, operator = '', wanted = ''] = /^\s*(===|[~=!<>]=|[<>])\s*(\S+)\s*$/.exec(part) ?? [];
      return comparisons[operator]?.(has, wanted.trim()) ?? false;
    });
}

/** A condition on the version of Python, and the declaration that states it. */
export interface PythonCondition {
  /** Comparisons joined by commas, such as `>=3.10,<4`. */
  versions: string;
  /** Its place, such as `pyproject.toml` or `more.txt: line 2`. */
  where: string;
}

/**
 * Say why no Python can run a program; undefined if one of the known versions meets all conditions, or if none is known
 * and the conditions do not contradict each other.
 *
 * @param known versions that the service has, such as `3.11.2`; undefined or empty if nobody knows them
 * @example pythonFault([{ versions: '>=3.12', where: 'pyproject.toml' }], ['3.11.2']) // 'pyproject.toml: needs Python >=3.12, …'
 */
export function pythonFault(
  conditions: readonly PythonCondition[],
  known: readonly string[] = [],
): string | undefined {
  const isMet = (version: string) =>
    conditions.every((condition) => allowsVersion(condition.versions, version));
  if (conditions.length === 0 || known.some(isMet)) return undefined;
  const wanted = conditions.map(({ versions, where }) => `${where}: needs Python ${versions}`).join('; ');
  if (!anyVersions.some(isMet)) {
    const why = conditions.length === 1 ? 'no such version exists' : 'no version meets all of these';
    return `${wanted}; ${why}.`;
  }
  if (known.length === 0) return undefined;
  return `${wanted}; the service has ${known.join(', ')}. Change the condition, or install such a Python where the service runs and start it again.`;
}

const range = (length: number): number[] => Array.from({ length }, (_, index) => index);

/** Versions of Python 3 that exist or may come, for conditions that nothing can meet. */
const anyVersions: readonly string[] = range(40).flatMap((minor) =>
  range(40).map((patch) => `3.${minor}.${patch}`),
);

const comparisons: Readonly<Record<string, (has: readonly number[], wanted: string) => boolean>> = {
  '>=': (has, wanted) => compare(has, release(wanted)) >= 0,
  '<=': (has, wanted) => compare(has, release(wanted)) <= 0,
  '>': (has, wanted) => compare(has, release(wanted)) > 0,
  '<': (has, wanted) => compare(has, release(wanted)) < 0,
  '==': equals,
  '===': equals,
  '!=': (has, wanted) => !equals(has, wanted),
  // `~=3.10` is `>=3.10` and `==3.*`.
  '~=': (has, wanted) => compare(has, release(wanted)) >= 0 && startsWith(has, release(wanted).slice(0, -1)),
};

function equals(has: readonly number[], wanted: string): boolean {
  return wanted.endsWith('.*')
    ? startsWith(has, release(wanted.slice(0, -2)))
    : compare(has, release(wanted)) === 0;
}

/** The numbers of a version: `3.11.2+` has 3, 11 and 2. */
const release = (version: string): number[] =>
  (/^\d+(?:\.\d+)*/.exec(version.replace(/^v/, ''))?.[0] ?? '0').split('.').map(Number);

const startsWith = (has: readonly number[], wanted: readonly number[]): boolean =>
  wanted.every((part, at) => part === (has[at] ?? 0));

/** Order two versions of Python, the older first. */
export const compareVersions = (one: string, other: string): number => compare(release(one), release(other));

/** Return a negative number, 0 or a positive one. Missing parts count as 0. */
function compare(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
