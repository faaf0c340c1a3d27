import * as z from 'zod/mini';
import { type LockedPackage, notInstallable } from './locked-package.ts';

const Pylock = z.object({
  packages: z.array(
    z.object({
      name: z.string(),
      version: z.optional(z.string()),
      marker: z.optional(z.string()),
      index: z.optional(z.string()),
      vcs: z.optional(z.object({ url: z.optional(z.string()), path: z.optional(z.string()) })),
      directory: z.optional(z.object({ path: z.string() })),
      archive: z.optional(z.object({ url: z.optional(z.string()), path: z.optional(z.string()) })),
    }),
  ),
});

/** Groups and extras are not installed unless somebody asks for them. */
const isOptional = (marker: string | undefined): boolean =>
  /\b(?:dependency_groups|extras)\b/.test(marker ?? '');

/** Packages of a `pylock.toml` (PEP 751), without groups and extras. */
export function pylockPackages(value: unknown): LockedPackage[] {
  return Pylock.parse(value).packages.flatMap((one): LockedPackage[] => {
    const { name, version, marker, index, vcs, directory, archive } = one;
    // The project itself: its files are the source.
    if (isOptional(marker) || directory?.path === '.') return [];
    const markers = marker === undefined ? [] : [marker];
    if (archive?.url !== undefined) return [{ name, version: version ?? '', url: archive.url, markers }];
    const elsewhere = vcs?.url ?? vcs?.path ?? directory?.path ?? archive?.path;
    if (elsewhere !== undefined || version === undefined)
      throw notInstallable('pylock.toml', name, elsewhere ?? 'a place without a version');
    return [{ name, version, ...(index !== undefined && { index }), markers }];
  });
}
