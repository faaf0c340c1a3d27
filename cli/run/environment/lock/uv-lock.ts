import * as z from 'zod/mini';
import { type LockedPackage, normalName, notInstallable } from './locked-package.ts';
import { type Need, reached } from './reached.ts';

/** Return the packages of a `uv.lock` that its project needs, without development groups. */
export function uvPackages(value: unknown, project: string | undefined): LockedPackage[] {
  const packages = UvLock.parse(value).package ?? [];
  const find = (name: string, version: string | undefined): Package | undefined =>
    packages.find((one) => one.name === name && (version === undefined || one.version === version));
  const edges = (dependencies: readonly z.infer<typeof Dependency>[] = []): Need[] =>
    dependencies.flatMap(({ name, version, marker, extra = [] }) => {
      const exact = version ?? find(name, undefined)?.version;
      return ['', ...extra].map((one) => ({ key: keyOf(name, exact, one), marker }));
    });
  const ofKey = (key: string): { one: Package | undefined; extra: string } => {
    const [name, version, extra] = z
      .tuple([z.string(), z.nullable(z.string()), z.string()])
      .parse(JSON.parse(key));
    return { one: find(name, version ?? undefined), extra };
  };
  const needs = (key: string): Need[] => {
    const { one, extra } = ofKey(key);
    return extra === '' ? edges(one?.dependencies) : edges(one?.['optional-dependencies']?.[extra]);
  };
  const named = project === undefined ? undefined : normalName(project);
  const root = packages.find((one) => one.name === named) ?? packages.find(isProject);
  const found = reached(edges(root?.dependencies), needs);
  return [...found].flatMap(([key, markers]) => {
    const { one, extra } = ofKey(key);
    if (one === undefined || one.version === undefined || extra !== '') return [];
    return [{ name: one.name, version: one.version, ...placeOf(one), markers }];
  });
}

const Dependency = z.object({
  name: z.string(),
  version: z.optional(z.string()),
  marker: z.optional(z.string()),
  extra: z.optional(z.array(z.string())),
});

const Package = z.object({
  name: z.string(),
  version: z.optional(z.string()),
  source: z.record(z.string(), z.unknown()),
  dependencies: z.optional(z.array(Dependency)),
  'optional-dependencies': z.optional(z.record(z.string(), z.array(Dependency))),
});

const UvLock = z.object({ package: z.optional(z.array(Package)) });

/** Return the graph's key of a package version, optionally with an extra. */
const keyOf = (name: string, version: string | undefined, extra = ''): string =>
  JSON.stringify([name, version ?? null, extra]);

const isProject = ({ source }: Package): boolean => source['virtual'] === '.' || source['editable'] === '.';

function placeOf({ name, source }: Package): Pick<LockedPackage, 'url' | 'index' | 'folder'> {
  const { registry, url } = source;
  const folder = source['editable'] ?? source['virtual'] ?? source['directory'];
  if (typeof folder === 'string' && /^[^./]/.test(folder)) return { folder };
  if (typeof registry === 'string') {
    if (/^https?:/.test(registry)) return { index: registry };
  } else if (typeof url === 'string') return { url };
  const [[kind, value] = ['elsewhere', '']] = Object.entries(source);
  throw notInstallable('uv.lock', name, `${kind} ${String(value)}`);
}

type Package = z.infer<typeof Package>;
