import { ConfigSyntaxError, positionAt, quoted } from './config-syntax-error.ts';
import { type ConfigValue, emptyMapping, exactNumber, maxConfigDepth } from './config-value.ts';

const whitespace = /[ \t\n\r]*/y;

const numberToken = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;

const wordToken = /[A-Za-z]+/y;

const literals: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/**
 * Parse JSON (RFC 8259). Unlike `JSON.parse`, refuse repeated keys and deep nesting, report line and column, and
 * keep integers that a double cannot hold.
 *
 * @param onRoot receives the positions of all values
 */
export function parseJson(text: string, onRoot?: (span: JsonSpan) => void): ConfigValue {
  let at = 0;

  function fail(fault: string, offset = at): never {
    throw new ConfigSyntaxError(fault, positionAt(text, offset));
  }

  function found(): string {
    return at < text.length ? quoted(String.fromCodePoint(text.codePointAt(at) ?? 0)) : 'the end of the file';
  }

  function token(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) at += match[0].length;
    return match;
  }

  function skip(): string | undefined {
    token(whitespace);
    return text[at];
  }

  function readString(): string {
    const start = at;
    for (at += 1; text[at] !== '"'; at += text[at] === '\\' ? 2 : 1) {
      if (at >= text.length) fail('this string is never closed', start);
      if (text.charCodeAt(at) < 0x20) fail('a control character in a string must be written as an escape');
    }
    at += 1;
    try {
      return JSON.parse(text.slice(start, at));
    } catch {
      return fail('this string has an escape that JSON does not know', start);
    }
  }

  function readList(depth: number, spans: JsonMembers): ConfigValue[] {
    const list: ConfigValue[] = [];
    at += 1;
    if (skip() === ']') {
      at += 1;
      return list;
    }
    for (;;) {
      const index = String(list.length);
      list.push(readValue(depth, (span) => spans?.set(index, span)));
      if (endsAfterItem(']')) return list;
    }
  }

  function readMapping(depth: number, spans: JsonMembers): ConfigValue {
    const mapping = emptyMapping();
    at += 1;
    if (skip() === '}') {
      at += 1;
      return mapping;
    }
    for (;;) {
      if (skip() !== '"') fail(`expected a key in double quotes, found ${found()}`);
      const keyStart = at;
      const key = readString();
      if (key in mapping) fail(`the key ${quoted(key)} is given twice in one mapping`, keyStart);
      if (skip() !== ':') fail(`expected ":" after a key, found ${found()}`);
      at += 1;
      mapping[key] = readValue(depth, (span) => spans?.set(key, { ...span, keyFrom: keyStart }));
      if (endsAfterItem('}')) return mapping;
    }
  }

  function endsAfterItem(close: string): boolean {
    const next = skip();
    if (next !== ',' && next !== close) fail(`expected "," or "${close}", found ${found()}`);
    at += 1;
    return next === close;
  }

  function readNumber(): number | string | undefined {
    const match = token(numberToken);
    if (match === null) return undefined;
    const [digits, fraction, exponent] = match;
    return exactNumber(fraction === undefined && exponent === undefined ? BigInt(digits) : Number(digits));
  }

  function readValue(outer: number, onSpan: (span: JsonSpan) => void): ConfigValue {
    const first = skip();
    const from = at;
    const members: JsonMembers =
      onRoot !== undefined && (first === '{' || first === '[') ? new Map() : undefined;
    const value = readBare(first, outer, members);
    if (onRoot !== undefined) onSpan({ keyFrom: from, from, to: at, members });
    return value;
  }

  function readBare(first: string | undefined, outer: number, members: JsonMembers): ConfigValue {
    if (first === '"') return readString();
    if (first === '{' || first === '[') {
      const depth = outer + 1;
      if (depth > maxConfigDepth) fail(`nested deeper than ${maxConfigDepth} levels`);
      return first === '{' ? readMapping(depth, members) : readList(depth, members);
    }
    const start = at;
    const number = readNumber();
    if (number !== undefined) return number;
    const word = token(wordToken)?.[0];
    const literal = word === undefined ? undefined : literals.get(word);
    if (literal === undefined) {
      at = start;
      fail(word === undefined ? `expected a value, found ${found()}` : `${quoted(word)} is not a JSON value`);
    }
    return literal;
  }

  const value = readValue(0, (span) => onRoot?.(span));
  if (skip() !== undefined) fail(`expected the end of the file, found ${found()}`);
  return value;
}

/** Position of a value: characters `from` to `to`. */
export interface JsonSpan {
  /** Start of the key, else of the value. */
  keyFrom: number;
  from: number;
  to: number;
  /** Values within, by key or index; undefined for a single value. */
  members: ReadonlyMap<string, JsonSpan> | undefined;
}

type JsonMembers = Map<string, JsonSpan> | undefined;
