import {
  type Gate,
  type GateBound,
  GateError,
  type GateMetric,
  type GateSubject,
  gateMetrics,
  runMetrics,
} from './gate.ts';

/** The syntax of the gates of a file, for messages and help. Parts in `[…]` are optional. */
export const gateGrammar = [
  'accuracy >= base [- 0.5%], accuracy >= 95%',
  'agreement >= 99%',
  'error <= 0.05',
  'bytes <= 12MB (KB, MB, GB, KiB, MiB, GiB), bytes <= 0.5x, bytes <= base',
  'latency <= 0.8x, latency <= base, latency <= 20ms (us, ms, s)',
].join('; ');

/** The syntax of the gates of trainings. */
export const runGateGrammar = [
  'METRIC >= base [- 0.5%], METRIC <= base * 1.02, METRIC <= 0.3',
  'cost <= 2',
  'bytes <= 12MB, bytes <= 0.5x',
  'latency <= 0.8x, latency <= 20ms',
].join('; ');

const byteUnits: Readonly<Record<string, number>> = {
  '': 1,
  ...{ B: 1, KB: 1e3, MB: 1e6, GB: 1e9 },
  ...{ KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 },
};
/** Units of time in milliseconds. */
const timeUnits: Readonly<Record<string, number>> = { us: 1e-3, ms: 1, s: 1e3 };

/** Reads a gate from left to right and reports the position of a syntax error. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** @returns the match at this position after spaces; undefined if there is none */
  take(pattern: RegExp): string | undefined {
    this.#skipSpaces();
    const found = new RegExp(pattern.source, 'y');
    found.lastIndex = this.#at;
    const [taken] = found.exec(this.#text) ?? [];
    if (taken !== undefined) this.#at += taken.length;
    return taken;
  }

  /** The name of the gate for messages. */
  get named(): string {
    return `gate ${JSON.stringify(this.#text)}`;
  }

  /** Whether the pattern matches at this position. */
  sees(pattern: RegExp): boolean {
    const at = this.#at;
    const isThere = this.take(pattern) !== undefined;
    this.#at = at;
    return isThere;
  }

  /** @param expected description of the allowed text */
  fault(expected: string): GateError {
    this.#skipSpaces();
    const rest = this.#text.slice(this.#at);
    const found = rest === '' ? 'the text ends' : `there is ${JSON.stringify(rest.slice(0, 20))}`;
    return new GateError(
      `${this.named}: at character ${this.#at + 1} ${found}, where ${expected} is allowed.`,
    );
  }

  /** @throws GateError if text follows */
  end(): void {
    this.#skipSpaces();
    if (this.#at < this.#text.length) throw this.fault('nothing more');
  }

  #skipSpaces(): void {
    while (this.#text[this.#at] === ' ') this.#at += 1;
  }
}

const number = /\d+(?:\.\d+)?/;
const signedNumber = /[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/;
/** End of a word or unit. */
const ends = '(?![A-Za-z0-9_.])';

function numberOf(reader: Reader, expected: string): number {
  const digits = reader.take(number);
  if (digits === undefined) throw reader.fault(expected);
  return finite(reader, digits);
}

/** Refuse a number such as 1e999: it is infinite, and every value or none would pass. */
function finite(reader: Reader, digits: string): number {
  const value = Number(digits);
  if (Number.isFinite(value)) return value;
  throw new GateError(`${reader.named}: ${digits.slice(0, 20)} is too large a number.`);
}

/** Read a share of 1, or a percentage. */
function share(reader: Reader, expected: string): number {
  const value = numberOf(reader, expected);
  return reader.take(/%/) === undefined ? value : value / 100;
}

const isBase = (reader: Reader): boolean => reader.take(new RegExp(`base${ends}`)) !== undefined;

/** Read what may follow `base`: an offset. */
function offset(reader: Reader): GateBound {
  const sign = reader.take(/[+-]/);
  if (sign === undefined) return { kind: 'offset', value: 0 };
  const value = share(reader, 'a share such as 0.5% or 0.005');
  return { kind: 'offset', value: sign === '-' ? -value : value };
}

const bounds: Readonly<Record<GateMetric, (reader: Reader) => GateBound>> = {
  accuracy: (reader) => {
    const expected = '"base", "base - 0.5%", or a share such as 95% or 0.95';
    return isBase(reader)
      ? offset(reader)
      : { kind: 'value', value: atMostAll(reader, share(reader, expected)) };
  },
  agreement: (reader) => ({
    kind: 'value',
    value: atMostAll(reader, share(reader, 'a share such as 99% or 0.99')),
  }),
  error: (reader) => ({ kind: 'value', value: share(reader, 'an error such as 0.05 or 5%') }),
  bytes: (reader) => {
    if (isBase(reader)) return { kind: 'factor', value: 1 };
    const value = numberOf(reader, '"base", a factor such as 0.5x, or a size such as 12MB');
    return withUnit(reader, value, byteUnits);
  },
  latency: (reader) => {
    if (isBase(reader)) return { kind: 'factor', value: 1 };
    const value = numberOf(reader, '"base", a factor such as 0.8x, or a time such as 20ms');
    return withUnit(reader, value, timeUnits);
  },
  cost: (reader) => ({ kind: 'value', value: numberOf(reader, 'US dollars such as 2 or 0.5') }),
  metric: (reader) => {
    if (isBase(reader)) {
      if (reader.take(/\*/) === undefined) return offset(reader);
      return { kind: 'factor', value: numberOf(reader, 'a factor such as 1.02') };
    }
    const digits = reader.take(signedNumber);
    if (digits === undefined)
      throw reader.fault('"base", "base - 0.5%", "base * 1.02", or a value such as 0.3 or 95%');
    const value = finite(reader, digits);
    if (reader.take(new RegExp(`x${ends}`)) !== undefined) return { kind: 'factor', value };
    return { kind: 'value', value: value / (reader.take(/%/) === undefined ? 1 : 100) };
  },
};

/** Refuse a share above 1. 95 without `%` could never pass. */
function atMostAll(reader: Reader, value: number): number {
  if (value <= 1) return value;
  throw new GateError(
    `${reader.named}: ${value} is above 1, but a share is at most 1 or 100%. Write 95% or 0.95.`,
  );
}

const unitsOf = (units: Readonly<Record<string, number>>): string =>
  Object.keys(units)
    .filter((unit) => unit !== '')
    .join(', ');

function withUnit(reader: Reader, value: number, units: Readonly<Record<string, number>>): GateBound {
  if (reader.take(new RegExp(`x${ends}`)) !== undefined) return { kind: 'factor', value };
  for (const [unit, size] of Object.entries(units))
    if (unit !== '' && reader.take(new RegExp(`${unit}${ends}`)) !== undefined)
      return { kind: 'value', value: value * size };
  const bare = units[''];
  if (bare === undefined || reader.sees(/[A-Za-z]/)) throw reader.fault(`x or a unit of ${unitsOf(units)}`);
  return { kind: 'value', value: value * bare };
}

/**
 * Parse a gate, for example `accuracy >= base - 0.5%`, `bytes <= 12MB` or `latency <= 0.8x`. Of trainings, every name but
 * `bytes`, `latency` and `cost` is a metric; one with spaces or signs stands in double quotes.
 *
 * @throws GateError naming the position of the syntax error and the allowed text
 * @example
 * parseGate('latency <= 0.8x') // { metric: 'latency', bound: { kind: 'factor', value: 0.8 }, … }
 * parseGate('val_loss <= base * 1.02', 'runs') // { metric: 'metric', name: 'val_loss', … }
 */
export function parseGate(text: string, subject: GateSubject = 'file'): Gate {
  const reader = new Reader(text);
  const signs: Readonly<Record<string, '>=' | '<='>> = subject === 'file' ? gateMetrics : runMetrics;
  const names = Object.keys(signs);
  const named = names.find((name) => reader.take(new RegExp(`${name}(?![^\\s<>=])`)) !== undefined);
  const name = named ?? (subject === 'file' ? undefined : metricName(reader));
  if (name === undefined)
    throw reader.fault(`${subject === 'file' ? '' : 'the name of a metric, or '}one of ${names.join(', ')}`);
  const sign = named === undefined ? undefined : signs[named];
  const taken = reader.take(sign === undefined ? /[<>]=/ : new RegExp(sign));
  if (taken !== '>=' && taken !== '<=')
    throw reader.fault(
      sign !== undefined
        ? `${sign} (the only one for ${name})`
        : `>= or <=${reader.sees(/\w/) ? ', after a name with spaces in double quotes,' : ''}`,
    );
  const metric = named === undefined ? 'metric' : (named as GateMetric);
  const bound = bounds[metric](reader);
  reader.end();
  return { text, metric, name, sign: taken, bound };
}

/** Read the name of a metric: up to a space or a comparison, or in double quotes. */
function metricName(reader: Reader): string | undefined {
  const quoted = reader.take(/"[^"]+"/);
  return quoted === undefined ? reader.take(/[^\s<>="]+/) : quoted.slice(1, -1);
}
