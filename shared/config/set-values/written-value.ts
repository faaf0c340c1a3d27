import { SetValueError } from './set-value-error.ts';
import { type NewValue, NumberLiteral } from './typed-value.ts';

type Format = 'yaml' | 'json' | 'toml';

/**
 * Write a value in one line: in YAML so that readers of versions 1.1 and 1.2 agree about it, and in flow style.
 * @throws SetValueError for a value that the format lacks
 * @example writtenValue('yaml', 1e-7); // '1.0e-7', because PyYAML takes 1e-7 for a text
 */
export function writtenValue(format: Format, value: NewValue): string {
  if (value === null) {
    if (format === 'toml') throw new SetValueError('TOML has no null');
    return 'null';
  }
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number' || value instanceof NumberLiteral) return writtenNumber(format, value);
  if (typeof value === 'string') return writtenText(format, value);
  if (isList(value)) return `[${value.map((one) => writtenValue(format, one)).join(', ')}]`;
  const colon = format === 'toml' ? ' = ' : ': ';
  const members = Object.entries(value).map(
    ([key, one]) => `${writtenKey(format, key)}${colon}${writtenValue(format, one)}`,
  );
  return `{${members.join(', ')}}`;
}

/** Write a key. */
export function writtenKey(format: Format, key: string): string {
  if (format === 'toml') return /^[\w-]+$/.test(key) ? key : writtenText(format, key);
  return writtenText(format, key);
}

/** Return whether a number of a file is a float: Python reads 1.0 as another type than 1. */
export const isFloat = (source: string): boolean => /^[-+]?(?:\d|\.\d)[\d_]*[.eE]/.test(source);

const isList = (value: object): value is readonly NewValue[] => Array.isArray(value);

/** A number that all versions of YAML, JSON and TOML read alike. */
function writtenNumber(format: Format, value: number | NumberLiteral): string {
  const number = Number(value);
  if (!Number.isFinite(number)) {
    if (format === 'json') throw new SetValueError(`JSON has no ${number}`);
    const word = Number.isNaN(number) ? 'nan' : 'inf';
    return `${number < 0 ? '-' : ''}${format === 'yaml' ? '.' : ''}${word}`;
  }
  if (value instanceof NumberLiteral) return portable(value.source) ?? BigInt(value.source).toString();
  if (Object.is(number, -0)) return '-0.0';
  const isExact = Number.isSafeInteger(number) || !Number.isInteger(number);
  return portable(isExact ? String(number) : number.toExponential()) ?? String(number);
}

/** Return a decimal number with a point before the exponent and a sign in it, for YAML 1.1. */
function portable(source: string): string | undefined {
  const match = /^([+-]?)(\d*)(?:(\.)(\d*))?(?:[eE]([+-]?)(\d+))?$/.exec(source);
  if (match === null) return undefined;
  const [, sign, whole = '', point, fraction = '', exponentSign = '', exponent] = match;
  const minus = sign === '-' ? '-' : '';
  // YAML 1.1 takes leading zeros for octal.
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  if (point === undefined && exponent === undefined) return `${minus}${digits}`;
  const power = exponent === undefined ? '' : `e${exponentSign || '+'}${exponent}`;
  return `${minus}${digits}.${fraction || '0'}${power}`;
}

function writtenText(format: Format, text: string): string {
  if (format === 'yaml' && plainText.test(text) && !yamlWords.has(text.toLowerCase())) return text;
  // Escapes of JSON are also those of YAML and TOML. PyYAML refuses the characters of the pattern.
  return JSON.stringify(text).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Texts that no version of YAML reads as something else, also in `[ ]` and `{ }`. */
const plainText = /^[A-Za-z_/][\w./+@-]*(?: [\w./+@]+)*$/;

/** Words that some reader takes for another value. */
const yamlWords = new Set([
  'y',
  'n',
  'yes',
  'no',
  'on',
  'off',
  'true',
  'false',
  'null',
  'nan',
  'inf',
  'infinity',
]);
