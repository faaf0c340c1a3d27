import { quoted } from './config-syntax-error.ts';
import type { ConfigScalar } from './config-value.ts';
import { parseConfigFile } from './parse-config-file.ts';
import { SetValueError } from './set-values/set-value-error.ts';
import { setValues, valueAt } from './set-values/set-values.ts';

/** New values by path. The keys of a path are joined by dots: `optimizer.lr`, `layers.0.units`. */
export type Overrides = Readonly<Record<string, ConfigScalar>>;

/**
 * Replace single values of a configuration, and no other character. Return its new text.
 *
 * @param fileName its extension decides the format
 * @throws OverrideError for every path that leads to no single value, and for a result that is no valid
 * configuration
 */
export function overrideConfig(fileName: string, text: string, overrides: Overrides): string {
  const { data } = parseConfigFile(fileName, text);
  const changes = Object.entries(overrides).map(([name, value]) => ({ name, path: name.split('.'), value }));
  const present = changes.filter(({ path }) => isScalar(valueAt(data, path)));
  const missing = changes.filter((change) => !present.includes(change));
  const faults = missing.length === 0 ? [] : [noScalar(missing.map(({ name }) => name))];
  try {
    const result = setValues(fileName, text, present);
    if (faults.length === 0) return result;
  } catch (cause) {
    faults.push(cause instanceof SetValueError ? cause.message : 'makes the configuration invalid');
    throw new OverrideError(faults.join('; '), { cause });
  }
  throw new OverrideError(faults.join('; '));
}

const noScalar = (names: readonly string[]): string =>
  `does not lead to a single value of the configuration: ${names.map(quoted).join(', ')}`;

/** Error about values that cannot be overridden. */
export class OverrideError extends Error {
  override readonly name = 'OverrideError';
}

const isScalar = (value: unknown): boolean =>
  value === null || (value !== undefined && typeof value !== 'object');
