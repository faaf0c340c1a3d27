import { textFinder } from './like-pattern.ts';
import { readEquality, readTest, readTimes, type Test, type Work } from './read-test.ts';
import { Scanner } from './scanner.ts';
import { type FreeWords, type NamedValue, nameIn, type SearchValue, type Vocabulary } from './vocabulary.ts';

/** Parse a filter of rows. An empty text matches every row. @throws SearchSyntaxError */
export const parseFilter = <Row>(text: string, vocabulary: Vocabulary<Row>): Filter<Row> =>
  new FilterParser(text, vocabulary).parse();

/** Parsed filter. */
export interface Filter<Row> {
  matches(row: Row): boolean;
  /** Names that the filter uses. */
  names: readonly NamedValue<Row>[];
  /** What a row must meet all of, in the order of the text. */
  parts: readonly FilterPart<Row>[];
  /**
   * Work of all calls of `matches`: a step for each character that a pattern reads, and some for each condition.
   * A step takes up to 20 ns.
   */
  steps(): number;
}

/** One of the conditions that AND joins. */
export interface FilterPart<Row> {
  text: string;
  /** Names that it compares. Undefined if it finds words, too. */
  names: readonly NamedValue<Row>[] | undefined;
  matches: Matches<Row>;
}

type Matches<Row> = (row: Row) => boolean;

/** What was read before a part. */
interface Begin {
  at: number;
  names: number;
  conditions: number;
}

/** Steps of a condition besides those of a pattern: some look a value up by name or parse a time. */
const conditionSteps = 20;

/** Maximum conditions of a filter. Each row is compared with all of them. */
const maxConditions = 100;

/** Maximum parentheses and NOTs around a condition. */
const maxDepth = 50;

/** What follows a name with which a value is compared. Another word is one to find. */
const comparesNext =
  /!~|~|!=|[=<>]|(?:not\s+)?(?:i?like|rlike|between)\b|(?:not\s+)?in\s*(?:\(|$)|is\s*(?:$|(?:not\b\s*)?(?:null|set)\b|not\s*$)/iy;

const groupEnd = /\./y;

class FilterParser<Row> {
  readonly #scanner: Scanner;
  readonly #vocabulary: Vocabulary<Row>;
  readonly #work: Work = { steps: 0 };
  readonly #names: NamedValue<Row>[] = [];
  #conditions = 0;
  #depth = 0;
  #last: { row: Row; text: string } | undefined;

  constructor(text: string, vocabulary: Vocabulary<Row>) {
    this.#scanner = new Scanner(text);
    this.#vocabulary = vocabulary;
  }

  parse(): Filter<Row> {
    const scanner = this.#scanner;
    const parts = scanner.isAtEnd ? [] : this.#either();
    if (!scanner.isAtEnd) return scanner.fail('AND, OR or the end');
    return { matches: allOf(parts), names: this.#names, parts, steps: () => this.#work.steps };
  }

  /** Read what OR joins. One alternative alone has parts. */
  #either(): FilterPart<Row>[] {
    const begin = this.#begin();
    const parts = this.#all();
    const alternatives = [allOf(parts)];
    while (this.#scanner.keyword('OR') !== undefined) alternatives.push(allOf(this.#all()));
    if (alternatives.length === 1) return parts;
    return [this.#part(begin, anyOf(alternatives))];
  }

  #begin() {
    return { at: this.#scanner.at, names: this.#names.length, conditions: this.#conditions };
  }

  /** Build the part that was read since its beginning. */
  #part({ at, names: before, conditions }: Begin, matches: Matches<Row>): FilterPart<Row> {
    const names = this.#names.slice(before);
    const hasWords = names.length !== this.#conditions - conditions;
    return { text: this.#scanner.textFrom(at), names: hasWords ? undefined : names, matches };
  }

  /** Read what AND joins; in a free filter also what stands beside each other. */
  #all(): FilterPart<Row>[] {
    const parts: FilterPart<Row>[] = [];
    do {
      const begin = this.#begin();
      parts.push(this.#part(begin, this.#negated()));
    } while (this.#isJoined());
    return parts;
  }

  #isJoined(): boolean {
    const scanner = this.#scanner;
    if (scanner.keyword('AND') !== undefined) return true;
    if (this.#vocabulary.free === undefined) return false;
    return scanner.sign(',') !== undefined || !(scanner.isAtEnd || scanner.isNext(/\)|or(?![^\s()])/iy));
  }

  #negated(): Matches<Row> {
    const scanner = this.#scanner;
    const { at } = scanner;
    const isNegated = scanner.keyword('NOT') !== undefined;
    const isGroup = !isNegated && scanner.sign('(') !== undefined;
    if (!isNegated && !isGroup) return this.#condition();
    this.#depth += 1;
    if (this.#depth > maxDepth)
      return scanner.fail(`a condition (at most ${maxDepth} parentheses and NOTs may be around one)`, at);
    let matches: Matches<Row>;
    if (isNegated) {
      const negated = this.#negated();
      matches = (row) => !negated(row);
    } else {
      matches = allOf(this.#either());
      if (scanner.sign(')') === undefined) return scanner.fail('AND, OR or )');
    }
    this.#depth -= 1;
    return matches;
  }

  #condition(): Matches<Row> {
    const scanner = this.#scanner;
    const { free } = this.#vocabulary;
    const word = free && this.#word(free);
    if (word !== undefined) return this.#counted(word);
    const name = scanner.comparedName(this.#vocabulary, free);
    this.#names.push(name);
    const test = readTest(scanner, name, this.#vocabulary, this.#work);
    return this.#counted((row) => meets(row, name, test));
  }

  /** Count a condition, and the work of each comparison with it. */
  #counted(matches: Matches<Row>): Matches<Row> {
    this.#conditions += 1;
    if (this.#conditions > maxConditions)
      return this.#scanner.fail(`the end (a filter may have at most ${maxConditions} conditions)`);
    const work = this.#work;
    return (row) => {
      work.steps += conditionSteps;
      return matches(row);
    };
  }

  /** Read a word to find, or a time in words alone. Return undefined before a name with a comparison. */
  #word(free: FreeWords<Row>): Matches<Row> | undefined {
    const scanner = this.#scanner;
    const { at } = scanner;
    const span = readTimes(scanner, free.now());
    const quoted = span === undefined ? scanner.quoted(`'"\``) : undefined;
    if (span === undefined && quoted === undefined && scanner.word() === undefined)
      return scanner.fail('a name with a comparison, or a word to find');
    // The key of a group may be in quotes, and the group too.
    const isGroup =
      quoted === undefined ? scanner.textFrom(at).endsWith('.') : scanner.take(groupEnd) !== undefined;
    if (isGroup && scanner.quoted('`"') === undefined && quoted !== undefined) scanner.word();
    if (scanner.isNext(comparesNext)) {
      scanner.return(at);
      return undefined;
    }
    const text = isGroup ? scanner.textFrom(at) : (quoted ?? scanner.textFrom(at));
    // `user:ada` is a condition on an attribute, but `cuda:0` may be a value.
    const [, name = ''] = /^([^:]+):./s.exec(quoted === undefined ? text : '') ?? [];
    const attribute = nameIn(this.#vocabulary, undefined, name);
    if (attribute !== undefined) {
      scanner.return(at + name.length + 1);
      this.#names.push(attribute);
      const test = readEquality(scanner, attribute, this.#vocabulary, this.#work);
      return (row) => meets(row, attribute, test);
    }
    const find = textFinder(text.toLowerCase());
    const holds: Matches<Row> = (row) => {
      const rowText = this.#textOf(row, free);
      this.#work.steps += rowText.length;
      return find(rowText, 0, rowText.length) >= 0;
    };
    if (span === undefined) return holds;
    return (row) => {
      const time = free.timeOf(row);
      return (time !== undefined && span.from <= time && time < span.to) || holds(row);
    };
  }

  /** Return the text in which words are found. All words of a filter look at a row before the next row. */
  #textOf(row: Row, free: FreeWords<Row>): string {
    if (this.#last?.row !== row) this.#last = { row, text: free.textOf(row) };
    return this.#last.text;
  }
}

function meets<Row>(row: Row, name: NamedValue<Row>, test: Test | 'null' | 'not-null'): boolean {
  if (name.readAll !== undefined && typeof test !== 'string') return name.readAll(row).some(test);
  const value = name.read(row);
  if (isMissing(value)) return test === 'null';
  return typeof test === 'string' ? test === 'not-null' : test(value);
}

const isMissing = (value: SearchValue): value is null | undefined => value === undefined || value === null;

/** Runs for up to 100,000 rows, so it creates no function for each. */
function allOf<Row>(parts: readonly FilterPart<Row>[]): Matches<Row> {
  const tests = parts.map(({ matches }) => matches);
  const [first] = tests;
  if (first !== undefined && tests.length === 1) return first;
  return (row) => {
    for (const test of tests) if (!test(row)) return false;
    return true;
  };
}

const anyOf =
  <Row>(tests: readonly Matches<Row>[]): Matches<Row> =>
  (row) => {
    for (const test of tests) if (test(row)) return true;
    return false;
  };
