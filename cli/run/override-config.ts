import { extname } from 'node:path';
import { parse as parseToml, stringify as stringifyToml } from 'smol-toml';
import { isMap, parseDocument, parse as parseYaml } from 'yaml';
import { CliError, exitCodes } from '../cli-error.ts';

/**
 * Replace values of a configuration.
 *
 * @throws CliError for a file that cannot be read, or a value whose path does not fit
 */
export function overrideConfig(name: string, content: string, overrides: readonly Override[]): string {
  if (overrides.length === 0) return content;
  try {
    const ending = extname(name).toLowerCase();
    if (ending === '.json')
      return overrideTables(
        JSON.parse(content),
        overrides,
        (root) => `${JSON.stringify(root, undefined, 2)}\n`,
      );
    if (ending === '.toml') return overrideTables(parseToml(content), overrides, stringifyToml);
    return overrideYaml(content, overrides);
  } catch (error) {
    const text = error instanceof Error ? error.message.trim() : String(error);
    throw new CliError(`${name}: ${text}`, exitCodes.usage);
  }
}

/** Return whether a configuration has a value at a path. A file that cannot be read has none. */
export function hasValue(name: string, content: string, path: readonly string[]): boolean {
  try {
    const ending = extname(name).toLowerCase();
    if (ending !== '.json' && ending !== '.toml') return parseDocument(content).hasIn(path);
    let at: unknown = ending === '.json' ? JSON.parse(content) : parseToml(content);
    for (const key of path) {
      if (!isTable(at) || !Object.hasOwn(at, key)) return false;
      at = at[key];
    }
    return true;
  } catch {
    return false;
  }
}

export interface Override {
  /** Keys that lead to the value, such as `['optimizer', 'lr']`. */
  path: readonly string[];
  value: unknown;
}

function overrideTables(
  root: unknown,
  overrides: readonly Override[],
  stringify: (value: Record<string, unknown>) => string,
): string {
  if (!isTable(root)) throw new Error('it is not a mapping');
  for (const override of overrides) set(root, override);
  return stringify(root);
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function set(root: Record<string, unknown>, { path, value }: Override): void {
  let table = root;
  for (const name of path.slice(0, -1)) {
    const next = table[name];
    if (next !== undefined && !isTable(next)) throw new Error(`${path.join('.')}: ${name} is not a mapping`);
    const below = next ?? {};
    table[name] = below;
    table = below;
  }
  table[path.at(-1) ?? ''] = value;
}

function overrideYaml(content: string, overrides: readonly Override[]): string {
  // Editing the document keeps the file's comments and order.
  const document = parseDocument(content.trim() === '' ? '{}\n' : content);
  const [error] = document.errors;
  if (error !== undefined) throw error;
  // Write new members of an empty mapping in block style, not in braces.
  if (isMap(document.contents) && document.contents.items.length === 0) document.contents.flow = false;
  for (const { path, value } of overrides) document.setIn(path, value);
  return document.toString();
}

/** Parse `name.of.value=1e-3`, with the value as YAML. @throws Error that Stricli reports */
export function parseOverride(text: string): Override {
  const at = text.indexOf('=');
  // The name of a flag is one key, also with dots.
  const path = text.startsWith('-') ? [text.slice(0, at)] : text.slice(0, at).split('.');
  if (at < 1 || path.includes('') || /^-+$/.test(path[0] ?? ''))
    throw new Error('must be NAME=VALUE, such as optimizer.lr=0.01 or --lr=0.01');
  if (path.some((name) => name === '__proto__')) throw new Error('__proto__ is no name');
  return { path, value: parseYaml(text.slice(at + 1)) };
}
