import { parse } from 'smol-toml';
import * as z from 'zod/mini';
import { errorText } from '../../../core/error-text.ts';
import { EnvironmentError } from '../environment-error.ts';
import { type PackagePlaces, PlacedTools, PoetrySources, packagePlaces } from './package-places.ts';
import { PoetryDependencies, poetryRequirements, versionRange } from './poetry-requirements.ts';

/** What a `pyproject.toml` declares. */
export interface PythonManifest {
  name: string | undefined;
  /** Requirement lines; undefined if the file lists none. */
  requirements: string[] | undefined;
  /** Requirement lines of each extra, by its name. */
  extras: Readonly<Record<string, readonly string[]>>;
  /** Allowed versions of Python, as in `>=3.10,<4`; undefined if the file does not limit them. */
  python: string | undefined;
  /** Places of packages other than the usual index. */
  places: PackagePlaces;
  /** Patterns of the folders of a uv workspace that begins here. */
  members: readonly string[] | undefined;
  /** Requirements that are not read, each with the table that has them. */
  unread: readonly string[];
}

/**
 * Read a `pyproject.toml`: the standard's `[project]` (PEP 621), else poetry 1's `[tool.poetry]`.
 *
 * @throws EnvironmentError `bad-dependencies` if it cannot be read, or has a requirement that pip does not know
 * @example readPyproject('[project]\nname = "a"\ndependencies = ["numpy"]').requirements // ['numpy']
 */
export function readPyproject(content: string): PythonManifest {
  const { project, tool, 'dependency-groups': groups } = parsed(content);
  const poetry = tool?.poetry?.dependencies;
  const pixi = tool?.pixi?.['pypi-dependencies'];
  const python = poetry?.['python'];
  return {
    name: project?.name,
    requirements: withLines(
      project?.dependencies ?? dynamicLines(tool) ?? (poetry && poetryRequirements(poetry)),
      pixi && poetryRequirements(pixi),
    ),
    extras: project?.['optional-dependencies'] ?? {},
    python: project?.['requires-python'] ?? (typeof python === 'string' ? versionRange(python) : undefined),
    places: packagePlaces(tool),
    members: tool?.uv?.workspace?.members,
    unread: [
      ...tableOf('tool.pixi.dependencies', tool?.pixi?.dependencies, ['python', 'pip']),
      ...Object.entries(tool?.poetry?.group ?? {}).flatMap(([name, { dependencies }]) =>
        tableOf(`tool.poetry.group.${name}.dependencies`, dependencies, []),
      ),
      ...Object.entries(groups ?? {}).flatMap(([name, lines]) =>
        Array.isArray(lines) && lines.length > 0 ? [`dependency-groups.${name}`] : [],
      ),
    ],
  };
}

const withLines = (lines: string[] | undefined, more: string[] | undefined): string[] | undefined =>
  more === undefined ? lines : [...(lines ?? []), ...more];

/** Name a table that lists packages. */
function tableOf(name: string, table: object | undefined, known: readonly string[]): string[] {
  const packages = Object.keys(table ?? {}).filter((one) => !known.includes(one));
  return packages.length === 0 ? [] : [`${name} (${packages.slice(0, 5).join(', ')})`];
}

/** setuptools takes the requirements from files if the project says so. */
function dynamicLines(tool: z.infer<typeof Manifest>['tool']): string[] | undefined {
  const files = tool?.setuptools?.dynamic?.dependencies?.file;
  return files === undefined ? undefined : [files].flat().map((file) => `-r ${file}`);
}

const Manifest = z.object({
  project: z.optional(
    z.object({
      name: z.optional(z.string()),
      dependencies: z.optional(z.array(z.string())),
      'optional-dependencies': z.optional(z.record(z.string(), z.array(z.string()))),
      'requires-python': z.optional(z.string()),
    }),
  ),
  'dependency-groups': z.optional(z.record(z.string(), z.unknown())),
  tool: z.optional(
    z.object({
      ...PlacedTools,
      poetry: z.optional(
        z.object({
          dependencies: z.optional(PoetryDependencies),
          source: PoetrySources,
          group: z.optional(
            z.record(z.string(), z.object({ dependencies: z.optional(z.record(z.string(), z.unknown())) })),
          ),
        }),
      ),
      setuptools: z.optional(
        z.object({
          dynamic: z.optional(
            z.object({
              dependencies: z.optional(
                z.object({ file: z.optional(z.union([z.string(), z.array(z.string())])) }),
              ),
            }),
          ),
        }),
      ),
    }),
  ),
});

function parsed(content: string): z.infer<typeof Manifest> {
  try {
    return Manifest.parse(parse(content));
  } catch (error) {
    throw new EnvironmentError(
      'bad-dependencies',
      `pyproject.toml cannot be read: ${errorText(error).trim()}`,
    );
  }
}
