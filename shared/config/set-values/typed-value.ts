import { isMap, isScalar, isSeq, parseDocument } from 'yaml';

/** A value to set. */
export type NewValue =
  | string
  | number
  | boolean
  | null
  | NumberLiteral
  | readonly NewValue[]
  | { readonly [key: string]: NewValue };

/** A number as it was typed, which keeps `1.0` and numbers of more digits than a double has. */
export class NumberLiteral {
  readonly source: string;
  readonly value: number;

  constructor(source: string, value: number) {
    this.source = source;
    this.value = value;
  }

  /** False for a whole number that a double rounds. */
  get isExact(): boolean {
    return !Number.isInteger(this.value) || Number.isSafeInteger(this.value) || /[.e]/i.test(this.source);
  }

  toString(): string {
    return this.source;
  }

  valueOf(): number {
    return this.value;
  }
}

/** Return whether a value is a mapping. */
export const isMapping = (value: NewValue): value is { readonly [key: string]: NewValue } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberLiteral);

/**
 * Parse a value that a user typed: a number, `true`, `false` or `null` as in YAML 1.2, a text in quotes, a list in
 * `[ ]`, a mapping in `{ }`. All else is the text as it was typed.
 *
 * @throws Error for quotes and brackets that do not match
 * @example typedValue('#ff0000'); // '#ff0000'
 */
export function typedValue(text: string): NewValue {
  const trimmed = text.trim();
  const isBracketed = /^["'[{]/.test(trimmed);
  const { errors, contents } = parseDocument(trimmed, { intAsBigInt: true, logLevel: 'silent' });
  const isWhole = errors.length === 0 && (contents?.range[1] ?? 0) === trimmed.length;
  if (isBracketed) {
    if (isWhole) return fromNode(contents);
    throw new Error(
      `${trimmed} begins with ${trimmed[0]}, but is no ${/^["']/.test(trimmed) ? 'text in quotes' : 'list or mapping'} of YAML; put a text in quotes twice, such as 'name="[a"'`,
    );
  }
  return trimmed === '' ||
    (isWhole && isScalar(contents) && contents.source === trimmed && typeof contents.value !== 'string')
    ? fromNode(contents)
    : text;
}

function fromNode(node: unknown): NewValue {
  if (isSeq(node)) return node.items.map(fromNode);
  if (isMap(node))
    return Object.fromEntries(node.items.map(({ key, value }) => [keyText(key), fromNode(value)]));
  if (!isScalar(node)) return null;
  const { value, source = '' } = node;
  if (typeof value !== 'number' && typeof value !== 'bigint')
    return typeof value === 'boolean' || typeof value === 'string' || value === null ? value : source;
  return new NumberLiteral(source, Number(value));
}

function keyText(key: unknown): string {
  if (isScalar(key)) return String(key.source ?? key.value);
  throw new Error('a key is a single value; put a text in quotes twice, such as \'name="{{a}}"\'');
}
