import * as z from 'zod/mini';
import { type LockedPackage, normalName, notInstallable } from './locked-package.ts';
import { type Need, reached } from './reached.ts';

const Requirement = z.union([
  z.string(),
  z.object({ markers: z.optional(z.string()), optional: z.optional(z.boolean()) }),
]);

const Package = z.object({
  name: z.string(),
  version: z.string(),
  optional: z.optional(z.boolean()),
  /** Poetry 2.0 and later write this field. */
  groups: z.optional(z.array(z.string())),
  markers: z.optional(z.union([z.string(), z.record(z.string(), z.string())])),
  dependencies: z.optional(z.record(z.string(), z.union([Requirement, z.array(Requirement)]))),
  source: z.optional(z.object({ type: z.string(), url: z.string() })),
});

const PoetryLock = z.object({ package: z.optional(z.array(Package)) });

/**
 * Return the packages of a `poetry.lock` that its project needs, without development groups.
 *
 * @param roots names that `pyproject.toml` requires
 */
export function poetryPackages(value: unknown, roots: readonly string[]): LockedPackage[] {
  const packages = PoetryLock.parse(value).package ?? [];
  const hasGroups = packages.some(({ groups }) => groups !== undefined);
  return hasGroups ? ofMainGroup(packages) : ofRequirements(packages, roots);
}

/** Return the packages in the main group of a poetry 2 lock. */
const ofMainGroup = (packages: readonly Package[]): LockedPackage[] =>
  packages.flatMap((one) => {
    if (one.optional === true || one.groups?.includes('main') !== true) return [];
    const marker = typeof one.markers === 'string' ? one.markers : one.markers?.['main'];
    const { name, version } = one;
    return [{ name, version, ...placeOf(one), markers: marker === undefined ? [] : [marker] }];
  });

function placeOf({ name, source }: Package): Pick<LockedPackage, 'url' | 'index'> {
  if (source === undefined) return {};
  if (source.type === 'legacy') return { index: source.url };
  if (source.type === 'url') return { url: source.url };
  throw notInstallable('poetry.lock', name, `${source.type} ${source.url}`);
}

/** Return the packages that the program's requirements lead to. Older locks do not list groups. */
function ofRequirements(packages: readonly Package[], roots: readonly string[]): LockedPackage[] {
  const byName = new Map(packages.map((one) => [normalName(one.name), one]));
  const needs = (key: string): Need[] =>
    Object.entries(byName.get(key)?.dependencies ?? {}).flatMap(([name, wanted]) =>
      [wanted].flat().flatMap((one) => {
        if (typeof one === 'string') return [{ key: normalName(name) }];
        return one.optional === true ? [] : [{ key: normalName(name), marker: one.markers }];
      }),
    );
  const found = reached(
    roots.map((name) => ({ key: normalName(name) })),
    needs,
  );
  return [...found].flatMap(([key, markers]) => {
    const one = byName.get(key);
    return one === undefined ? [] : [{ name: one.name, version: one.version, ...placeOf(one), markers }];
  });
}

type Package = z.infer<typeof Package>;
