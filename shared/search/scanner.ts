import { decimalSource } from '../core/text/decimal.ts';
import { type FreeWords, type NamedValue, nameIn, namesOf, type Vocabulary } from './vocabulary.ts';

/** Scanner that reads a filter or an order from left to right. */
export class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    if (text.length > maxText)
      throw new SearchSyntaxError(`is longer than ${maxText} characters`, maxText + 1);
    this.#text = text;
  }

  /** Position of the next character that is not a space. */
  get at(): number {
    while (/\s/.test(this.#text.charAt(this.#at))) this.#at += 1;
    return this.#at;
  }

  get isAtEnd(): boolean {
    return this.at === this.#text.length;
  }

  #match(pattern: RegExp, at = this.at): string | undefined {
    pattern.lastIndex = at;
    return pattern.exec(this.#text)?.[0];
  }

  /** Consume what a sticky pattern matches next. */
  take(pattern: RegExp, at = this.at): string | undefined {
    const found = this.#match(pattern, at);
    if (found !== undefined) this.#at = at + found.length;
    return found;
  }

  /** Whether a sticky pattern matches what comes next. */
  isNext(pattern: RegExp): boolean {
    return this.#match(pattern) !== undefined;
  }

  /** Return to an earlier position. */
  return(at: number): void {
    this.#at = at;
  }

  /** Return what was read since a position. */
  textFrom(at: number): string {
    return this.#text.slice(at, this.#at).trimEnd();
  }

  word(): string | undefined {
    return this.take(word);
  }

  /** Read a text without quotes, up to a space, a comma or a parenthesis. */
  bareValue(): string | undefined {
    return this.take(bare);
  }

  /** Read a regular expression without quotes, which may have groups. */
  bareExpression(): string | undefined {
    return this.take(bareGroups);
  }

  /** Always throw. @param at position of the error; default: the current one */
  fail(expected: string, at = this.at): never {
    const position = at + 1;
    if (at >= this.#text.length)
      throw new SearchSyntaxError(`ends at position ${position}, where ${expected} is expected`, position);
    const found = this.#match(shown, at) ?? this.#text.charAt(at);
    throw new SearchSyntaxError(
      `has ${found} at position ${position}, where ${expected} is expected`,
      position,
    );
  }

  /** Consume one of the keywords, case-insensitively, if it comes next. */
  keyword<const K extends string>(...keywords: readonly K[]): K | undefined {
    const found = this.#match(word)?.toUpperCase();
    const known = keywords.find((keyword) => keyword === found);
    if (known !== undefined) this.#at += known.length;
    return known;
  }

  /** Consume one of the signs. Pass longer signs first. */
  sign<const S extends string>(...signs: readonly S[]): S | undefined {
    const { at } = this;
    const sign = signs.find((one) => this.#text.startsWith(one, at));
    if (sign !== undefined) this.#at += sign.length;
    return sign;
  }

  number(): number | undefined {
    const found = this.take(number);
    return found === undefined ? undefined : Number(found);
  }

  /**
   * Read a text in one of these quotes. A doubled quote stands for itself. @param at start of the text; default:
   * the current position
   */
  quoted(quotes: string, at = this.at): string | undefined {
    const quote = this.#text.charAt(at);
    if (quote === '' || !quotes.includes(quote)) return undefined;
    let value = '';
    for (let from = at + 1; ; ) {
      const end = this.#text.indexOf(quote, from);
      if (end < 0) {
        const message = `has a ${quote} at position ${at + 1} that is not closed`;
        throw new SearchSyntaxError(message, at + 1);
      }
      value += this.#text.slice(from, end);
      this.#at = end + 1;
      if (this.#text.charAt(end + 1) !== quote) return value;
      value += quote;
      from = end + 2;
    }
  }

  /** Read an attribute or a key of a group. @throws SearchSyntaxError that lists the valid names */
  name<Row>(vocabulary: Vocabulary<Row>): NamedValue<Row> {
    return this.#name(vocabulary, undefined, (at) => this.take(wholeWord, at));
  }

  /**
   * Read a name with which something is compared; with `free` also one without its group. Its key has a `~` only if another
   * comparison follows, as in filters of before there was `~`.
   * @throws SearchSyntaxError that lists the valid names
   */
  comparedName<Row>(vocabulary: Vocabulary<Row>, free?: FreeWords<Row>): NamedValue<Row> {
    return this.#name(vocabulary, free, (at) => {
      const [before, ...behind] = this.#match(comparedWord, at)?.split('~') ?? [];
      const isKey = this.#text.charAt(at - 1) === '.' || before?.includes('.');
      return this.take(isKey && behind.length > 0 ? wholeWord : word, at);
    });
  }

  #name<Row>(
    vocabulary: Vocabulary<Row>,
    free: FreeWords<Row> | undefined,
    read: (at: number) => string | undefined,
  ): NamedValue<Row> {
    const { at } = this;
    const first = this.quoted('`"') ?? read(at);
    if (first === undefined) return this.fail(`a name (${namesOf(vocabulary)})`);
    const isQuoted = /[`"]/.test(this.#text.charAt(at));
    const [group, key] = this.#splitName(first, isQuoted, read);
    const named = key === '' ? undefined : nameIn(vocabulary, group, key);
    if (named !== undefined) return named;
    if (free === undefined || key === '') return this.fail(`a name (${namesOf(vocabulary)})`, at);
    const whole = group === undefined ? key : `${group}.${key}`;
    const resolved = nameIn(vocabulary, undefined, whole.toLowerCase()) ?? free.named(whole);
    if (typeof resolved === 'object') return resolved;
    throw new SearchSyntaxError(`has ${whole} at position ${at + 1}, ${resolved}`, at + 1);
  }

  #splitName(
    first: string,
    isQuoted: boolean,
    read: (at: number) => string | undefined,
  ): [string | undefined, string] {
    const after = this.#at;
    if (isQuoted) {
      if (this.#text.charAt(after) !== '.') return [undefined, first];
      this.#at += 1;
      return [first, this.quoted('`"', this.#at) ?? read(this.#at) ?? ''];
    }
    const dot = first.indexOf('.');
    if (dot < 0) return [undefined, first];
    const rest = first.slice(dot + 1);
    const quoted = rest === '' ? this.quoted('`"', after) : undefined;
    return [first.slice(0, dot), quoted ?? rest];
  }
}

/** Maximum length of a filter or an order, in UTF-16 units. */
const maxText = 10_000;

/**
 * Syntax error of a filter or an order. The message completes a sentence that begins with its name, for example
 * "has OR at position 12, where AND or the end is expected".
 */
export class SearchSyntaxError extends Error {
  override readonly name = 'SearchSyntaxError';
  /** Position of the first wrong character, from 1. */
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.position = position;
  }
}

/** Part of a text that an error shows: a word, an operator, or the beginning of a quoted text. */
const shown = /[^\s=!<>~,()'"`]{1,30}|[=!<>~]+|['"`][^'"`]{0,20}['"`]?|./suy;

const word = /[^\s=!<>~,()'"`]+/y;
const wholeWord = /[^\s=!<>,()'"`]+/y;
/** A whole word before a comparison other than `~`. */
const comparedWord =
  /[^\s=!<>,()'"`]+(?=\s*(?:!=|[=<>])|\s+(?:i?like|(?:not\s+)?in|is\s+(?:not\s+)?null)(?![^\s=!<>,()'"`]))/iy;
const bareGroups = /(?:[^\s()'"`]|\([^\s()]*\))+/y;
/** A text that begins with a sign of a comparison is a mistyped one, such as `=>`. */
const bare = /[^\s,()'"`=<>!~][^\s,()'"`]*/y;
const number = new RegExp(`${decimalSource}(?![^\\s,()])`, 'y');
