import * as z from 'zod/mini';
import { EnvironmentError } from '../environment-error.ts';

/**
 * Convert `[tool.poetry.dependencies]` to requirement lines.
 *
 * @throws EnvironmentError `bad-dependencies` for a dependency that pip cannot express
 */
export const poetryRequirements = (dependencies: PoetryDependencies): string[] =>
  Object.entries(dependencies).flatMap(([name, wanted]) =>
    name === 'python' ? [] : [wanted].flat().flatMap((one) => lineOf(name, one)),
  );

const Wanted = z.union([
  z.string(),
  z.object({
    version: z.optional(z.string()),
    extras: z.optional(z.array(z.string())),
    markers: z.optional(z.string()),
    optional: z.optional(z.boolean()),
    path: z.optional(z.string()),
    file: z.optional(z.string()),
    url: z.optional(z.string()),
    git: z.optional(z.string()),
    source: z.optional(z.string()),
  }),
]);

/** `[tool.poetry.dependencies]`: poetry 1 keeps a program's dependencies here. */
export const PoetryDependencies = z.record(z.string(), z.union([Wanted, z.array(Wanted)]));
type PoetryDependencies = z.infer<typeof PoetryDependencies>;

function lineOf(name: string, wanted: z.infer<typeof Wanted>): string[] {
  const given = typeof wanted === 'string' ? { version: wanted } : wanted;
  const { extras, markers, optional, path, file, url, git } = given;
  if (optional === true) return [];
  // Its place comes from `packagePlaces`.
  const isPlaced = [path, file, url, git].some((place) => place !== undefined);
  const version = isPlaced ? '*' : given.version;
  if (version === undefined || version.includes('|'))
    throw new EnvironmentError(
      'bad-dependencies',
      `pyproject.toml: ${name} cannot be converted, because pip has no such requirement.\nList the packages in requirements.txt.`,
    );
  const named = extras === undefined ? name : `${name}[${extras.join(',')}]`;
  return [`${named}${versionRange(version)}${markers === undefined ? '' : ` ; ${markers}`}`];
}

/** Convert poetry's versions (`^1.2`, `~1.2`, `1.*`) to pip's syntax; blank for any version. */
export function versionRange(text: string): string {
  const each = text.split(',').map((part) => part.trim());
  return each
    .flatMap((part) => {
      if (part === '*' || part === '') return [];
      if (/^[\^~]\s*\d/.test(part)) return [range(part)];
      return [/^\d/.test(part) ? `==${part}` : part.replaceAll(/\s+/g, '')];
    })
    .join(',');
}

/** Convert `^1.2` and `~1.2` to pip's syntax. */
function range(text: string): string {
  const [, sign = '', version = ''] = /^([\^~])\s*(\d+(?:\.\d+)*)$/.exec(text) ?? [];
  const parts = version.split('.').map(Number);
  if (sign === '~') return `>=${version},<${next(parts, Math.min(1, parts.length - 1))}`;
  const first = parts.findIndex((part) => part > 0);
  return `>=${version},<${next(parts, first === -1 ? parts.length - 1 : first)}`;
}

/** Return a version with the part at index `at` incremented and the later parts dropped. */
const next = (parts: readonly number[], at: number): string =>
  [...parts.slice(0, at), (parts[at] ?? 0) + 1].join('.');
