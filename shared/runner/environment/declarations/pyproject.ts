import { parse } from 'smol-toml';
import * as z from 'zod/mini';
import { errorText } from '../../../core/error-text.ts';
import { EnvironmentError } from '../environment-error.ts';
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
}

/**
 * Read a `pyproject.toml`: the standard's `[project]` (PEP 621), else poetry 1's `[tool.poetry]`.
 *
 * @throws EnvironmentError `bad-dependencies` if it cannot be read, or has a requirement that pip does not know
 * @example readPyproject('[project]\nname = "a"\ndependencies = ["numpy"]').requirements // ['numpy']
 */
export function readPyproject(content: string): PythonManifest {
  const { project, tool } = parsed(content);
  const poetry = tool?.poetry?.dependencies;
  const python = poetry?.['python'];
  return {
    name: project?.name,
    requirements: project?.dependencies ?? dynamicLines(tool) ?? (poetry && poetryRequirements(poetry)),
    extras: project?.['optional-dependencies'] ?? {},
    python: project?.['requires-python'] ?? (typeof python === 'string' ? versionRange(python) : undefined),
  };
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
  tool: z.optional(
    z.object({
      poetry: z.optional(z.object({ dependencies: z.optional(PoetryDependencies) })),
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
