import { allowsVersion } from '../install/python-version.ts';

/** A requirement or constraint, and its place, such as `more.txt: line 2`. */
export interface StatedRequirement {
  /** Its normal form, such as `numpy>=1,<2 ; python_version < "3.9"`. */
  spec: string;
  where: string;
}

/**
 * Name the packages whose requirements no version meets. Only plain release numbers are compared; requirements with a
 * marker, a URL or an exclusion (`!=`) are left to the installer, which knows more.
 *
 * @example contradictions([{ spec: 'six==1.17', where: 'a.txt: line 1' }, { spec: 'six<1.17', where: 'b.txt: line 1' }])
 * // ['six: no version meets six==1.17 (a.txt: line 1) and six<1.17 (b.txt: line 1)']
 */
export function contradictions(stated: readonly StatedRequirement[]): string[] {
  const byName = new Map<string, { stated: StatedRequirement; versions: string }[]>();
  for (const one of stated) {
    const [, name, versions] = /^([a-z0-9-]+)(?:\[[^\]]*\])?([=<>~][^;@ ]*)$/.exec(one.spec) ?? [];
    if (name === undefined || versions === undefined || !versions.split(',').every(isPlain)) continue;
    byName.set(name, [...(byName.get(name) ?? []), { stated: one, versions }]);
  }
  return [...byName].flatMap(([name, all]) => {
    const named = all.flatMap(({ versions }) => versions.match(/\d+(?:\.\d+)*/g) ?? []);
    // A range that is not empty has its lowest version or one just above it.
    const candidates = ['0', ...named.flatMap((version) => [version, `${version}.0.0.0.1`])];
    if (candidates.some((version) => all.every((one) => allowsVersion(one.versions, version)))) return [];
    const each = new Set(all.map(({ stated: { spec, where } }) => `${spec} (${where})`));
    return [`${name}: no version meets ${[...each].join(' and ')}`];
  });
}

const isPlain = (comparison: string): boolean =>
  /^(?:===|[~=<>]=|[<>])\d+(?:\.\d+)*(?:\.\*)?$/.test(comparison);
