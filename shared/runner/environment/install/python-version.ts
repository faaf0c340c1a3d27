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

/** Return a negative number, 0 or a positive one. Missing parts count as 0. */
function compare(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
