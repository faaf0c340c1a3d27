import * as z from 'zod/mini';
import { type LockedPackage, notInstallable } from './locked-package.ts';

const PipfileLock = z.object({
  _meta: z.object({ sources: z.optional(z.array(z.object({ name: z.string(), url: z.string() }))) }),
  default: z.record(
    z.string(),
    z.object({
      version: z.optional(z.string()),
      markers: z.optional(z.string()),
      index: z.optional(z.string()),
      git: z.optional(z.string()),
      path: z.optional(z.string()),
      file: z.optional(z.string()),
    }),
  ),
});

/** Packages of a `Pipfile.lock`, without those for development. */
export function pipfilePackages(value: unknown): LockedPackage[] {
  const { _meta, default: packages } = PipfileLock.parse(value);
  const indexes = new Map(_meta.sources?.map(({ name, url }) => [name, url]));
  return Object.entries(packages).map(([name, { version, markers, index, git, path, file }]) => {
    const exact = version?.startsWith('==') === true ? version.slice(2) : undefined;
    if (exact === undefined) throw notInstallable('Pipfile.lock', name, git ?? path ?? file ?? 'no version');
    const url = index === undefined ? undefined : indexes.get(index);
    const place = url === undefined ? {} : { index: url };
    return { name, version: exact, ...place, markers: markers === undefined ? [] : [markers] };
  });
}
