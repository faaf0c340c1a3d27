import { parseConfigFile } from '../../shared/config/parse-config-file.ts';
import { setValues, valueAt } from '../../shared/config/set-values/set-values.ts';
import { type NewValue, NumberLiteral, typedValue } from '../../shared/config/set-values/typed-value.ts';
import { CliError, exitCodes } from '../cli-error.ts';

/**
 * Set values of a configuration, and change no other character.
 *
 * @throws CliError for a file that cannot be read, or a value whose path does not fit
 */
export function overrideConfig(name: string, content: string, overrides: readonly Override[]): string {
  if (overrides.length === 0) return content;
  try {
    return setValues(name, content, overrides);
  } catch (error) {
    const text = error instanceof Error ? error.message.trim() : String(error);
    throw new CliError(`${name}: ${text}`, exitCodes.usage);
  }
}

/** Return whether a configuration has a value at a path. A file that cannot be read has none. */
export function hasValue(name: string, content: string, path: readonly string[]): boolean {
  try {
    return valueAt(parseConfigFile(name, content).data, path) !== undefined;
  } catch {
    return false;
  }
}

export interface Override {
  /** Keys that lead to the value, such as `['optimizer', 'lr']`. */
  path: readonly string[];
  value: NewValue;
}

/** Return whether a value is a list or a mapping. */
export const isCompound = (value: NewValue): value is Exclude<NewValue, Single> =>
  typeof value === 'object' && value !== null && !(value instanceof NumberLiteral);

type Single = string | number | boolean | null | NumberLiteral;

/** Parse `name.of.value=1e-3`. @throws Error that Stricli reports */
export function parseOverride(text: string): Override {
  const at = text.indexOf('=');
  // The name of a flag is one key, also with dots.
  const path = text.startsWith('-') ? [text.slice(0, at)] : text.slice(0, at).split('.');
  if (at < 1 || path.includes('') || /^-+$/.test(path[0] ?? ''))
    throw new Error('must be NAME=VALUE, such as optimizer.lr=0.01 or --lr=0.01');
  if (path.some((name) => name === '__proto__')) throw new Error('__proto__ is no name');
  return { path, value: typedValue(text.slice(at + 1)) };
}
