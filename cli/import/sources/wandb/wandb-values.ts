import { protobufFields } from '../../../../shared/runner/metric-files/protobuf-fields.ts';

/** A value that W&B writes as JSON; numbers that JSON lacks are numbers. */
export type WandbValue = string | number | boolean | null | WandbValue[] | { [name: string]: WandbValue };

export const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString();

/**
 * Parse a value as Python and Go write it: `NaN` and infinities are bare words, or texts by newer versions.
 * @returns undefined for a text that is no value
 */
export function parseValue(text: string): WandbValue | undefined {
  const bare = nonFinite.get(text);
  if (bare !== undefined) return bare;
  try {
    return JSON.parse(text) as WandbValue;
  } catch {
    // Only a value within an object or a list gets here.
    const quoted = text.replace(/"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g, (part) =>
      part.startsWith('"') ? part : `"${part}"`,
    );
    try {
      return JSON.parse(quoted) as WandbValue;
    } catch {
      return undefined;
    }
  }
}

const nonFinite: ReadonlyMap<string, number> = new Map([
  ...['NaN', '"NaN"'].map((text) => [text, Number.NaN] as const),
  ...['Infinity', '"Infinity"'].map((text) => [text, Number.POSITIVE_INFINITY] as const),
  ...['-Infinity', '"-Infinity"'].map((text) => [text, Number.NEGATIVE_INFINITY] as const),
]);

/** Write whole numbers with more digits than a number keeps, such as seeds of 64 bits, as texts. */
const withDigits = (text: string): string =>
  /\d{16}/.test(text)
    ? text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (part) =>
        /^-?\d+$/.test(part) && !Number.isSafeInteger(Number(part)) ? `"${part}"` : part,
      )
    : text;

/**
 * Read items of config, history, summary or machine records into an object. An item has a key in `key` or a path in
 * `nested_key`, and its value in `value_json`; a version writes one-part paths, another one whole objects.
 * @param keepsDigits whether long whole numbers become texts
 */
export function readItem(item: Uint8Array, into: Map<string, WandbValue>, keepsDigits = false): void {
  let key: string | undefined;
  const path: string[] = [];
  let value: WandbValue | undefined;
  for (const { number, bytes } of protobufFields(item)) {
    if (number === itemFields.key) key = textOf(bytes);
    else if (number === itemFields.path) path.push(textOf(bytes));
    else if (number === itemFields.value) value = valueIn(textOf(bytes), keepsDigits);
  }
  const [first, ...others] = path.length > 0 ? path : [key ?? ''];
  if (first === undefined || value === undefined) return;
  into.set(first, others.length === 0 ? value : within(into.get(first), others, value));
}

const itemFields = { key: 1, path: 2, value: 16 };

/** Return a value; the text itself if it is damaged. */
function valueIn(text: string, keepsDigits: boolean): WandbValue {
  const value = parseValue(keepsDigits ? withDigits(text) : text);
  return value === undefined ? text : value;
}

/** Set a value at a path within an object; make objects on the way. */
function within(old: WandbValue | undefined, path: readonly string[], value: WandbValue): WandbValue {
  const [first = '', ...others] = path;
  // Within an object without a prototype, `__proto__` is only a name.
  const isPlain = isObject(old) && Object.getPrototypeOf(old) === null;
  const object: { [name: string]: WandbValue } = isPlain
    ? old
    : Object.assign(Object.create(null), isObject(old) ? old : undefined);
  object[first] = others.length === 0 ? value : within(object[first], others, value);
  return object;
}

export const isObject = (value: WandbValue | undefined): value is { [name: string]: WandbValue } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Names that W&B itself writes to the config, the history and the summary. */
const ownNames: ReadonlySet<string> = new Set(['_step', '_timestamp', '_runtime', '_wandb']);

/** Return the values that a program set, without those of W&B itself. */
export const valuesOfProgram = (values: ReadonlyMap<string, WandbValue>): (readonly [string, WandbValue])[] =>
  [...values].filter(([name]) => !ownNames.has(name));

/** Whether a value is a picture, a histogram, a table or the like. */
export const isMedia = (value: WandbValue): value is { [name: string]: WandbValue } =>
  isObject(value) && typeof value['_type'] === 'string';

/** Yield the values in nested objects, with their names joined by a point. Media stay whole. */
export function* flatValues(
  values: Iterable<readonly [string, WandbValue]>,
  prefix = '',
): Generator<[string, WandbValue]> {
  for (const [name, value] of values) {
    const key = prefix + name;
    if (isObject(value) && !isMedia(value) && Object.keys(value).length > 0)
      yield* flatValues(Object.entries(value), `${key}.`);
    else yield [key, value];
  }
}

/** Return the number of a value; undefined for other values. */
export const numberOf = (value: WandbValue): number | undefined =>
  typeof value === 'number' ? value : typeof value === 'boolean' ? Number(value) : nonFiniteText(value);

const nonFiniteText = (value: WandbValue): number | undefined =>
  typeof value === 'string' ? nonFinite.get(value) : undefined;
