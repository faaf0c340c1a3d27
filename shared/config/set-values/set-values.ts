import { ConfigSyntaxError, quoted } from '../config-syntax-error.ts';
import { type ConfigCollection, type ConfigValue, isMapping } from '../config-value.ts';
import { configFormat, parseConfigFile } from '../parse-config-file.ts';
import { jsonPlace } from './json-place.ts';
import type { Edit, Place } from './place.ts';
import { SetValueError } from './set-value-error.ts';
import { tomlPlace } from './toml-place.ts';
import { type NewValue, NumberLiteral } from './typed-value.ts';
import { yamlPlace } from './yaml-place.ts';

/**
 * Set values of a configuration. Change only the characters of these values: comments, order, line ends and the
 * forms of all other numbers stay. A value that the file lacks is added to its mapping.
 *
 * @param fileName its extension decides the format
 * @throws SetValueError for a value that has no place or no form in this format
 * @throws ConfigSyntaxError for a file that cannot be read
 */
export function setValues(fileName: string, text: string, changes: readonly Change[]): string {
  const mark = text.startsWith('\ufeff') ? 1 : 0;
  let body = text.slice(mark);
  if (body.trim() !== '') readData(fileName, body);
  // A later change can be within what an earlier one adds, so it waits for the next reading.
  for (let waiting = changes; waiting.length > 0; ) {
    const root = rootOf(fileName, body);
    const edits: Edit[] = [];
    const later: Change[] = [];
    const faults = new Map<string, string>();
    for (const change of waiting) {
      const isFirst = edits.length === 0;
      const edit = isFirst || later.length === 0 ? editOf(root, change, isFirst, faults) : undefined;
      if (faults.has(change.path.join('.'))) continue;
      if (edit === undefined || edits.some((other) => overlap(other, edit))) later.push(change);
      else edits.push(edit);
    }
    if (faults.size > 0) throw new SetValueError([...faults.values()].join('; '));
    body = applied(body, edits);
    waiting = later;
  }
  if (changes.length > 0) check(readData(fileName, body), changes);
  return text.slice(0, mark) + body;
}

export interface Change {
  /** Keys that lead to the value, such as `['optimizer', 'lr']`. Items of lists have their index. */
  path: readonly string[];
  value: NewValue;
}

/** Return the value at a path; undefined if there is none. */
export function valueAt(data: ConfigCollection, path: readonly string[]): ConfigValue | undefined {
  let at: ConfigValue | undefined = data;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = isMapping(at) ? at[key] : at[Number(key)];
  }
  return at;
}

/** Return data, also of a file of which only comments are left. */
function readData(fileName: string, text: string): ConfigCollection {
  try {
    return parseConfigFile(fileName, text).data;
  } catch (error) {
    if (error instanceof ConfigSyntaxError && error.fault === 'the file is empty') return {};
    throw error;
  }
}

function rootOf(fileName: string, text: string): Place {
  const format = configFormat(fileName);
  if (format === 'json') return jsonPlace(text);
  return format === 'toml' ? tomlPlace(text) : yamlPlace(text);
}

/** Return the edit that sets a value. One that adds is only made alone: return undefined if it may not. */
function editOf(
  root: Place,
  { path, value }: Change,
  mayAdd: boolean,
  faults: Map<string, string>,
): Edit | undefined {
  const name = path.join('.');
  try {
    let place = root;
    for (const [index, key] of path.entries()) {
      const next = place.children?.get(key);
      if (next === undefined && (place.add === undefined || place.isList)) {
        const fault = place.isList ? `has no item ${quoted(key)}` : 'is not a mapping';
        throw new SetValueError(`${index === 0 ? 'it' : path[index - 1]} ${fault}`);
      }
      if (next === undefined) {
        const rest = path.slice(index + 1);
        const nested = rest.reduceRight<NewValue>((inner, inside) => ({ [inside]: inner }), value);
        return mayAdd ? place.add?.(key, nested) : undefined;
      }
      place = next;
    }
    return place.replace(value);
  } catch (error) {
    if (!(error instanceof SetValueError)) throw error;
    faults.set(name, `${quoted(name)}: ${error.message}`);
    return undefined;
  }
}

const overlap = (edit: Edit, other: Edit): boolean => edit.from < other.to && other.from < edit.to;

function applied(text: string, edits: readonly Edit[]): string {
  let result = text;
  for (const { from, to, text: written } of [...edits].sort((a, b) => b.from - a.from))
    result = result.slice(0, from) + written + result.slice(to);
  return result;
}

/** Refuse a result in which a value reads otherwise than it was set. */
function check(data: ConfigCollection, changes: readonly Change[]): void {
  const last = new Map(changes.map((change) => [change.path.join('\n'), change]));
  const wrong = [...last.values()].filter(({ path, value }) => {
    const read = valueAt(data, path);
    // Compare a number by its value: 1.0 is 1.
    if (value instanceof NumberLiteral || typeof value === 'number')
      return String(read) !== String(Number(value)) && String(read) !== String(value);
    return typeof value === 'object' && value !== null ? typeof read !== 'object' : read !== value;
  });
  if (wrong.length > 0) {
    const paths = wrong.map(({ path }) => path.join('.'));
    throw new SetValueError(`cannot be set in this file: ${paths.map(quoted).join(', ')}`);
  }
}
