import { type NamedValue, nameIn, namesOf, type Vocabulary } from './vocabulary.ts';

/** Reads a filter or an order from left to right. */
export class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    if (text.length > maxText)
      throw new SearchSyntaxError(`is longer than ${maxText} characters`, maxText + 1);
    this.#text = text;
  }

  /** Where reading goes on, past spaces. */
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

  #take(pattern: RegExp, at = this.at): string | undefined {
    const found = this.#match(pattern, at);
    if (found !== undefined) this.#at = at + found.length;
    return found;
  }

  /** Always throws. @param at where, if not here */
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

  /** Take one of the keywords where it stands here, in any case. */
  keyword<const K extends string>(...keywords: readonly K[]): K | undefined {
    const found = this.#match(word)?.toUpperCase();
    const known = keywords.find((one) => one === found);
    if (known !== undefined) this.#at += known.length;
    return known;
  }

  /** Take one of the signs; longer ones have to come first. */
  sign<const S extends string>(...signs: readonly S[]): S | undefined {
    const { at } = this;
    const found = signs.find((one) => this.#text.startsWith(one, at));
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  number(): number | undefined {
    const found = this.#take(number);
    return found === undefined ? undefined : Number(found);
  }

  /** A text in one of these quotes, which is doubled inside. @param at where it begins, if not here */
  quoted(quotes: string, at = this.at): string | undefined {
    const quote = this.#text.charAt(at);
    if (quote === '' || !quotes.includes(quote)) return undefined;
    let value = '';
    for (let from = at + 1; ; ) {
      const end = this.#text.indexOf(quote, from);
      if (end < 0) {
        const message = `has a ${quote} at position ${at + 1} that is never closed`;
        throw new SearchSyntaxError(message, at + 1);
      }
      value += this.#text.slice(from, end);
      this.#at = end + 1;
      if (this.#text.charAt(end + 1) !== quote) return value;
      value += quote;
      from = end + 2;
    }
  }

  /** An attribute, or a key of a group. @throws SearchSyntaxError naming what there is */
  name<Row>(vocabulary: Vocabulary<Row>): NamedValue<Row> {
    const { at } = this;
    const first = this.quoted('`"') ?? this.#take(word);
    if (first === undefined) return this.fail(`a name (${namesOf(vocabulary)})`);
    const isQuoted = /[`"]/.test(this.#text.charAt(at));
    const [group, key] = this.#splitName(first, isQuoted);
    const named = key === '' ? undefined : nameIn(vocabulary, group, key);
    return named ?? this.fail(`a name (${namesOf(vocabulary)})`, at);
  }

  #splitName(first: string, isQuoted: boolean): [string | undefined, string] {
    const after = this.#at;
    if (isQuoted) {
      if (this.#text.charAt(after) !== '.') return [undefined, first];
      this.#at += 1;
      return [first, this.quoted('`"', this.#at) ?? this.#take(word, this.#at) ?? ''];
    }
    const dot = first.indexOf('.');
    if (dot < 0) return [undefined, first];
    const rest = first.slice(dot + 1);
    const quoted = rest === '' ? this.quoted('`"', after) : undefined;
    return [first.slice(0, dot), quoted ?? rest];
  }
}

/** Longest text of a filter or an order, in UTF-16 units. */
const maxText = 10_000;

/**
 * What is wrong with a filter or an order. The message is the end of a sentence that begins with its name, such as "has
 * OR at position 12, where AND or the end is expected".
 */
export class SearchSyntaxError extends Error {
  override readonly name = 'SearchSyntaxError';
  /** Of the first character that is wrong, counted from 1. */
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.position = position;
  }
}

/** What an error shows of a text: a word, an operator, or the beginning of a quoted text. */
const shown = /[^\s=!<>,()'"`]{1,30}|[=!<>]+|['"`][^'"`]{0,20}['"`]?|./suy;

const word = /[^\s=!<>,()'"`]+/y;
const number = /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![^\s,()])/y;
