import { createHash } from 'node:crypto';
import type { ResolvedDependency } from './dependencies/resolved-dependencies.ts';

export interface RequestKeyInput {
  envType: 'python' | 'node';
  /** Dependencies with expanded `-r` files. The content of the files counts; comments do not. */
  dependencies: readonly ResolvedDependency[];
  /** Implementation and real version, for example `cpython-3.11.7` or `node-24.1.0`. */
  interpreter: string;
  /** Absolute path of the interpreter's binary: a virtual environment links to it. Empty for Node. */
  executable: string;
  /** Operating system, processor and C library, for example `linux-x64-glibc2.36`. */
  platform: string;
  /**
   * Absolute folder of the project's environments. A virtual environment contains its own path and cannot be
   * moved.
   */
  folder: string;
  /** Package indexes from the project's variables, without credentials. */
  indexes?: readonly string[];
}

/** Increase one to invalidate all existing environments of its kind. */
const formatVersions = { python: 2, node: 1 } as const;

/**
 * Return the cache key of an environment: SHA-256 (hex) of a canonical JSON of all facts that determine the result
 * and are known before resolution. Order and repetition of dependencies do not matter.
 */
export function requestKey(input: RequestKeyInput): string {
  const dependencies = input.dependencies.map((dependency) => {
    if (dependency.kind === 'option') return [dependency.name, dependency.value];
    if (dependency.kind === 'file')
      return [dependency.path, dependency.sha256, dependency.extras, dependency.marker];
    // What a package lacks is left out, so earlier keys stay valid.
    const { kind, spec, hashes } = dependency;
    return [...(kind === 'constraint' ? ['-c'] : []), spec, ...(hashes === undefined ? [] : [hashes])];
  });
  const canonical = JSON.stringify([
    formatVersions[input.envType],
    input.envType,
    [...new Set(dependencies.map((dependency) => JSON.stringify(dependency)))].sort(),
    input.interpreter,
    input.executable,
    input.platform,
    input.folder,
    // Absent if there are none, so earlier keys stay valid.
    ...(input.indexes === undefined || input.indexes.length === 0 ? [] : [input.indexes]),
  ]);
  return createHash('sha256').update(canonical).digest('hex');
}
