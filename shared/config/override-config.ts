import { parse, stringify } from 'smol-toml';
import { type Document, isScalar } from 'yaml';
import { composeYaml } from './compose-yaml.ts';
import { quoted } from './config-syntax-error.ts';
import type { ConfigScalar } from './config-value.ts';
import { configFormat, parseConfigFile } from './parse-config-file.ts';

/** New values by path. The keys of a path are joined by dots: `optimizer.lr`, `layers.0.units`. */
export type Overrides = Readonly<Record<string, ConfigScalar>>;

/**
 * Replace single values of a configuration. Return its new text. YAML keeps its comments and order.
 *
 * @param fileName its extension decides the format
 * @throws OverrideError for every path that leads to no single value, and for a result that is no valid
 * configuration
 */
export function overrideConfig(fileName: string, text: string, overrides: Overrides): string {
  const body = text.startsWith('\ufeff') ? text.slice(1) : text;
  const result = overridden(fileName, body, overrides);
  try {
    parseConfigFile(fileName, result);
  } catch (cause) {
    throw new OverrideError('makes the configuration invalid', { cause });
  }
  return result;
}

function overridden(fileName: string, text: string, overrides: Overrides): string {
  const format = configFormat(fileName);
  if (format === 'yaml') {
    const document = composeYaml(text);
    if (document === undefined) throw noScalar(Object.keys(overrides));
    overrideAll(overrides, (path, value) => replaceInYaml(document, path, value));
    return document.toString({ lineWidth: 0 });
  }
  const data: unknown = format === 'toml' ? parse(text, { integersAsBigInt: 'asNeeded' }) : JSON.parse(text);
  overrideAll(overrides, (path, value) => replaceInData(data, path, value));
  return format === 'toml' ? stringify(data) : `${JSON.stringify(data, null, 2)}\n`;
}

const noScalar = (paths: readonly string[]): OverrideError =>
  new OverrideError(`does not lead to a single value of the configuration: ${paths.map(quoted).join(', ')}`);

/** Error about values that cannot be overridden. */
export class OverrideError extends Error {
  override readonly name = 'OverrideError';
}

function overrideAll(overrides: Overrides, replace: (path: string, value: ConfigScalar) => boolean): void {
  const unknown = Object.entries(overrides).flatMap(([path, value]) => (replace(path, value) ? [] : [path]));
  if (unknown.length > 0) throw noScalar(unknown);
}

/** Replace a value of a YAML document and keep its comments. Return false if the path leads to no single value. */
function replaceInYaml(document: Document, path: string, value: ConfigScalar): boolean {
  const keys = path.split('.');
  const present = document.getIn(keys, true);
  if (!isScalar(present)) return false;
  const made = document.createNode(value);
  const { comment, commentBefore, spaceBefore, anchor } = present;
  Object.assign(made, { comment, commentBefore, spaceBefore, anchor });
  document.setIn(keys, made);
  return true;
}

/** Replace a value of plain data. Return false if the path leads to no single value. */
function replaceInData(data: unknown, path: string, value: ConfigScalar): boolean {
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  let at = data;
  for (const key of keys) {
    if (!isObject(at) || !Object.hasOwn(at, key)) return false;
    at = at[key];
  }
  if (!isObject(at) || !Object.hasOwn(at, last) || isObject(at[last])) return false;
  at[last] = value;
  return true;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !(value instanceof Date);
