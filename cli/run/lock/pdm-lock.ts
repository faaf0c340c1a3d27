import * as z from 'zod/mini';
import { type LockedPackage, notInstallable } from './locked-package.ts';

const PdmLock = z.object({
  package: z.optional(
    z.array(
      z.object({
        name: z.string(),
        version: z.string(),
        groups: z.optional(z.array(z.string())),
        marker: z.optional(z.string()),
        extras: z.optional(z.array(z.string())),
        git: z.optional(z.string()),
        path: z.optional(z.string()),
        url: z.optional(z.string()),
      }),
    ),
  ),
});

/** Packages of a `pdm.lock` that its project needs, without groups for development. */
export function pdmPackages(value: unknown): LockedPackage[] {
  return (PdmLock.parse(value).package ?? []).flatMap((one) => {
    const { name, version, groups, marker, extras, git, path, url } = one;
    // The package itself stands beside the entries of its extras.
    if (groups?.includes('default') !== true || extras !== undefined) return [];
    const elsewhere = git ?? path;
    if (elsewhere !== undefined) throw notInstallable('pdm.lock', name, elsewhere);
    const markers = marker === undefined ? [] : [marker];
    return [{ name, version, ...(url !== undefined && { url }), markers }];
  });
}
