import { likePattern } from './like-pattern.ts';
import { Scanner } from './scanner.ts';
import type { NamedValue, SearchValue, ValueType, Vocabulary } from './vocabulary.ts';

/** Parse a filter of rows. An empty text matches every row. @throws SearchSyntaxError */
export function parseFilter<Row>(text: string, vocabulary: Vocabulary<Row>): Filter<Row> {
  const scanner = new Scanner(text);
  const work: Work = { steps: 0 };
  const conditions: Condition<Row>[] = [];
  if (!scanner.isAtEnd) {
    do {
      const name = scanner.name(vocabulary);
      if (conditions.length === maxConditions)
        return scanner.fail(`the end (a filter may have at most ${maxConditions} conditions)`);
      conditions.push({ name, test: readTest(scanner, name, work) });
    } while (scanner.keyword('AND') !== undefined);
    if (!scanner.isAtEnd) return scanner.fail('AND or the end');
  }
  return {
    names: conditions.map(({ name }) => name),
    matches(row) {
      // Runs for up to 100,000 rows, so it creates no function.
      for (const condition of conditions) {
        work.steps += conditionSteps;
        if (!meets(row, condition)) return false;
      }
      return true;
    },
    steps: () => work.steps,
  };
}

/** Parsed filter. */
export interface Filter<Row> {
  matches(row: Row): boolean;
  /** Names that the filter uses. */
  names: readonly NamedValue<Row>[];
  /**
   * Work of all calls of `matches`: a step for each character that a pattern reads, and some for each condition.
   * A step takes up to 20 ns.
   */
  steps(): number;
}

interface Work {
  steps: number;
}

/** Steps of a condition besides those of a pattern: some look a value up by name or parse a time. */
const conditionSteps = 20;

interface Condition<Row> {
  name: NamedValue<Row>;
  test: Test | 'null' | 'not-null';
}

type Test = (value: string | number) => boolean;

/** Maximum conditions of a filter. Each row is compared with all of them. */
const maxConditions = 100;

function readTest(scanner: Scanner, { type }: NamedValue<never>, work: Work): Test | 'null' | 'not-null' {
  const { at } = scanner;
  const sign = scanner.sign(...signs);
  if (sign !== undefined) return comparison(scanner, type, sign);
  const keyword = scanner.keyword('LIKE', 'ILIKE', 'IN', 'NOT', 'IS');
  switch (keyword) {
    case 'LIKE':
    case 'ILIKE':
      return isText(type)
        ? likeness(scanner, keyword, work)
        : scanner.fail(`a comparison with ${words[type]}`, at);
    case 'IN':
      return membership(scanner, type, true);
    case 'NOT':
      return scanner.keyword('IN') ? membership(scanner, type, false) : scanner.fail('IN');
    case 'IS': {
      const isNot = scanner.keyword('NOT') !== undefined;
      if (scanner.keyword('NULL') === undefined) return scanner.fail(isNot ? 'NULL' : 'NULL or NOT NULL');
      return isNot ? 'not-null' : 'null';
    }
    default:
      return scanner.fail(
        'a comparison (=, !=, <, <=, >, >=, LIKE, ILIKE, IN, NOT IN, IS NULL, IS NOT NULL)',
      );
  }
}

const signs = ['!=', '<=', '>=', '=', '<', '>'] as const;

function comparison(scanner: Scanner, type: ValueType, sign: Sign): Test {
  const { at } = scanner;
  const expected = readValue(scanner, type);
  const ask = compare[sign];
  if (typeof expected === 'string') {
    if (sign !== '=' && sign !== '!=')
      return scanner.fail(type === 'text' ? '=, !=, LIKE or ILIKE before a text' : 'a number', at);
    return (value) => ask(value, expected);
  }
  return (value) => {
    const number = asNumber(value);
    // A text that is not a number never matches a comparison with a number.
    return (typeof value === 'number' || !Number.isNaN(number)) && ask(number, expected);
  };
}

type Sign = (typeof signs)[number];

/** Read a value to compare with a value of this type. */
function readValue(scanner: Scanner, type: ValueType): string | number {
  const { at } = scanner;
  const number = type === 'text' ? undefined : scanner.number();
  if (number !== undefined) return number;
  const text = type === 'number' ? undefined : scanner.quoted(`'"`);
  const value = text !== undefined && type === 'time' ? readTime(text) : text;
  return value ?? scanner.fail(words[type], at);
}

function readTime(text: string): number | undefined {
  const time = date.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

const date = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

const words: Record<ValueType, string> = {
  number: 'a number',
  text: 'a text in quotes',
  time: 'a time (milliseconds, or a date such as "2026-01-31" or "2026-01-31T12:00:00Z")',
  'text-or-number': 'a text in quotes or a number',
};

const compare: Record<Sign, (one: string | number, other: string | number) => boolean> = {
  '=': (one, other) => one === other,
  '!=': (one, other) => one !== other,
  '<': (one, other) => one < other,
  '<=': (one, other) => one <= other,
  '>': (one, other) => one > other,
  '>=': (one, other) => one >= other,
};

/** Convert a value of a row to a number. Return NaN for a text that is not a number. */
const asNumber = (value: string | number): number =>
  typeof value === 'number' ? value : value.trim() === '' ? Number.NaN : Number(value);

const isText = (type: ValueType): boolean => type === 'text' || type === 'text-or-number';

function likeness(scanner: Scanner, keyword: 'LIKE' | 'ILIKE', work: Work): Test {
  const { at } = scanner;
  const pattern = scanner.quoted(`'"`) ?? scanner.fail('a pattern in quotes');
  if (pattern.length > maxPattern) return scanner.fail(`a pattern of at most ${maxPattern} characters`, at);
  const ignoresCase = keyword === 'ILIKE';
  const { matches, passes } = likePattern(ignoresCase ? pattern.toLowerCase() : pattern);
  return (value) => {
    const text = String(value);
    work.steps += text.length * (ignoresCase ? passes + 1 : passes);
    return matches(ignoresCase ? text.toLowerCase() : text);
  };
}

const maxPattern = 1000;

function membership(scanner: Scanner, type: ValueType, isIn: boolean): Test {
  if (scanner.sign('(') === undefined) return scanner.fail('(');
  const texts = new Set<string>();
  const numbers = new Set<number>();
  for (let isOpen = true; isOpen; ) {
    const value = readValue(scanner, type);
    if (typeof value === 'string') texts.add(value);
    else numbers.add(value);
    const mark = scanner.sign(',', ')') ?? scanner.fail(', or )');
    // Python writes a tuple of one element as ('a',).
    isOpen = mark === ',' && scanner.sign(')') === undefined;
  }
  const has: Test = (value) =>
    typeof value === 'number'
      ? numbers.has(value)
      : texts.has(value) || (numbers.size > 0 && numbers.has(asNumber(value)));
  return (value) => has(value) === isIn;
}

function meets<Row>(row: Row, { name, test }: Condition<Row>): boolean {
  if (name.readAll !== undefined && typeof test !== 'string') return name.readAll(row).some(test);
  const value = name.read(row);
  if (isMissing(value)) return test === 'null';
  return typeof test === 'string' ? test === 'not-null' : test(value);
}

const isMissing = (value: SearchValue): value is null | undefined => value === undefined || value === null;
