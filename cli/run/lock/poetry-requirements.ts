import * as z from 'zod/mini';
import { CliError, exitCodes } from '../../cli-error.ts';

const Wanted = z.union([
  z.string(),
  z.object({
    version: z.optional(z.string()),
    extras: z.optional(z.array(z.string())),
    markers: z.optional(z.string()),
    optional: z.optional(z.boolean()),
  }),
]);
/** `[tool.poetry.dependencies]`, in which poetry 1 keeps what a program needs. */
export const PoetryDependencies = z.record(z.string(), z.union([Wanted, z.array(Wanted)]));
type PoetryDependencies = z.infer<typeof PoetryDependencies>;

/** The version at which the part of a version before `at` changes. */
const next = (parts: readonly number[], at: number): string =>
  [...parts.slice(0, at), (parts[at] ?? 0) + 1].join('.');

/** `^1.2` and `~1.2` as pip writes them. */
function range(text: string): string {
  const [, sign = '', version = ''] = /^([\^~])\s*(\d+(?:\.\d+)*)$/.exec(text) ?? [];
  const parts = version.split('.').map(Number);
  if (sign === '~') return `>=${version},<${next(parts, Math.min(1, parts.length - 1))}`;
  const first = parts.findIndex((part) => part > 0);
  return `>=${version},<${next(parts, first === -1 ? parts.length - 1 : first)}`;
}

function versionOf(text: string): string {
  const each = text.split(',').map((part) => part.trim());
  return each
    .flatMap((part) => {
      if (part === '*' || part === '') return [];
      if (/^[\^~]\s*\d/.test(part)) return [range(part)];
      return [/^\d/.test(part) ? `==${part}` : part.replaceAll(/\s+/g, '')];
    })
    .join(',');
}

function lineOf(name: string, wanted: z.infer<typeof Wanted>): string[] {
  const given = typeof wanted === 'string' ? { version: wanted } : wanted;
  const { version, extras, markers, optional } = given;
  if (optional === true) return [];
  if (version === undefined || version.includes('|'))
    throw new CliError(
      `pyproject.toml: ${name} cannot be taken as it is, because pip has no such requirement.\nList in requirements.txt what is to be installed.`,
      exitCodes.usage,
    );
  const named = extras === undefined ? name : `${name}[${extras.join(',')}]`;
  return [`${named}${versionOf(version)}${markers === undefined ? '' : ` ; ${markers}`}`];
}

/** Requirement lines of `[tool.poetry.dependencies]`. @throws CliError for what pip cannot be told */
export const poetryRequirements = (dependencies: PoetryDependencies): string[] =>
  Object.entries(dependencies).flatMap(([name, wanted]) =>
    name === 'python' ? [] : [wanted].flat().flatMap((one) => lineOf(name, one)),
  );
