import { normalName } from '../dependencies/python-requirements.ts';
import type { ResolvedDependency } from '../dependencies/resolved-dependencies.ts';
import { packageOf } from './pin-fault.ts';

/** A package of an index in the version that uv chose, with the hashes of its files. */
export interface Pin {
  name: string;
  version: string;
  /** `--hash=sha256:…` words, those of the project if it states any. */
  hashes: string;
}

/**
 * Read what `uv pip compile` chose. `isWhole` is false if it has other lines than packages of indexes, such as files of the
 * source and direct URLs.
 *
 * @example readPins('six==1.16.0 \\\n    --hash=sha256:8abb\n', []).pins // [{ name: 'six', version: '1.16.0', hashes: '--hash=sha256:8abb' }]
 */
export function readPins(
  text: string,
  dependencies: readonly ResolvedDependency[],
): { pins: Pin[]; isWhole: boolean } {
  const stated = new Map<string, string>();
  for (const dependency of dependencies)
    if (
      (dependency.kind === 'package' || dependency.kind === 'constraint') &&
      dependency.hashes !== undefined
    )
      stated.set(packageOf(dependency.spec), dependency.hashes);
  const lines = text
    .replaceAll(/\\\r?\n\s*/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const pins = lines.flatMap((line) => {
    const [, name, version = '', hashes = ''] =
      /^([A-Za-z0-9][\w.-]*)==(\S+)((?:\s+--hash=\S+)*)$/.exec(line) ?? [];
    if (name === undefined) return [];
    const normal = normalName(name);
    return [{ name: normal, version, hashes: stated.get(normal) ?? hashes.trim() }];
  });
  return { pins, isWhole: pins.length === lines.length };
}
