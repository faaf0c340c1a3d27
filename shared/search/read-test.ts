import { likePattern } from './like-pattern.ts';
import type { Scanner } from './scanner.ts';
import { lengthWords, type TimeSpan, timeSpan, timeWords } from './time-words.ts';
import type { NamedValue, ValueType, Vocabulary } from './vocabulary.ts';

/** Read what a condition asks of the value of a name. @throws SearchSyntaxError */
export function readTest<Row>(
  scanner: Scanner,
  name: NamedValue<Row>,
  vocabulary: Vocabulary<Row>,
  work: Work,
): Test | 'null' | 'not-null' {
  const operand = operandOf(name, vocabulary, work);
  const { type, expressions } = operand;
  const { at } = scanner;
  const sign = scanner.sign(...(expressions === undefined ? signs : [...expressionSigns, ...signs]));
  if (sign === '~' || sign === '!~') return negatedIf(sign === '!~', expression(scanner, operand, at));
  if (sign !== undefined) return comparison(scanner, operand, sign);
  const isNegated = scanner.keyword('NOT') !== undefined;
  const keyword = scanner.keyword(
    'LIKE',
    'ILIKE',
    'RLIKE',
    'IN',
    'BETWEEN',
    ...(isNegated ? [] : ['IS' as const]),
  );
  switch (keyword) {
    case 'LIKE':
    case 'ILIKE':
      if (!isText(type)) return scanner.fail(`a comparison with ${words[type]}`, at);
      return negatedIf(isNegated, likeness(scanner, keyword, work));
    case 'RLIKE':
      return negatedIf(isNegated, expression(scanner, operand, at));
    case 'IN':
      return negatedIf(isNegated, membership(scanner, operand));
    case 'BETWEEN':
      return negatedIf(isNegated, range(scanner, operand));
    case 'IS': {
      const isNot = scanner.keyword('NOT') !== undefined;
      const state = scanner.keyword('NULL', 'SET');
      if (state === undefined) return scanner.fail(isNot ? 'NULL or SET' : 'NULL, SET, NOT NULL or NOT SET');
      return isNot === (state === 'NULL') ? 'not-null' : 'null';
    }
    default:
      return scanner.fail(
        isNegated
          ? 'LIKE, ILIKE, IN or BETWEEN'
          : `a comparison (=, !=, <, <=, >, >=, ${expressions === undefined ? '' : '~, !~, '}LIKE, ILIKE, IN, BETWEEN, IS NULL, IS SET, and with NOT)`,
      );
  }
}

export type Test = (value: string | number) => boolean;

export interface Work {
  steps: number;
}

/** Most steps of the filter of a request: some 0.5 s. 100,000 rows have 300 each: 15 conditions, or a text of 280. */
export const maxSteps = 30_000_000;

interface Operand {
  type: ValueType;
  /** Undefined in filters without free words, whose texts mean themselves. */
  typed: NamedValue<never>['typed'];
  /** Time to which times in words are relative. Undefined in filters without free words. */
  now: Date | undefined;
  expressions: Vocabulary<never>['expressions'];
  work: Work;
}

const operandOf = <Row>(
  { type, typed }: NamedValue<Row>,
  { free, expressions }: Vocabulary<Row>,
  work: Work,
): Operand => ({ type, typed: free && typed, now: free?.now(), expressions, work });

/** Read a value that is to be equal to that of a name. */
export const readEquality = <Row>(
  scanner: Scanner,
  name: NamedValue<Row>,
  vocabulary: Vocabulary<Row>,
  work: Work,
): Test => comparison(scanner, operandOf(name, vocabulary, work), '=');

const negatedIf = (isNegated: boolean, test: Test): Test => (isNegated ? (value) => !test(value) : test);

const expressionSigns = ['!~', '~'] as const;
const signs = ['!=', '<=', '>=', '==', '=', '<', '>'] as const;

function comparison(scanner: Scanner, operand: Operand, given: (typeof signs)[number]): Test {
  const { type } = operand;
  const sign = given === '==' ? '=' : given;
  const { at } = scanner;
  const expected = readExpected(scanner, operand);
  if (typeof expected === 'object') return compareTime[sign](expected);
  const ask = compare[sign];
  if (typeof expected === 'string') {
    if (sign !== '=' && sign !== '!=')
      return scanner.fail(type === 'text' ? '=, !=, LIKE or ILIKE before a text' : 'a number', at);
    const special = nonFinite(expected);
    return (value) => ask(value, typeof value === 'number' ? (special ?? expected) : expected);
  }
  return (value) => {
    const number = asNumber(value);
    // A text that is not a number never matches a comparison with a number.
    return (typeof value === 'number' || !Number.isNaN(number)) && ask(number, expected);
  };
}

type Sign = '=' | '!=' | '<' | '<=' | '>' | '>=';

const readExpected = (scanner: Scanner, operand: Operand): TimeSpan | string | number =>
  operand.type === 'time' ? readTime(scanner, operand) : readValue(scanner, operand);

/** Read a value to compare with a value of this type. In a free filter, a text needs no quotes. */
function readValue(scanner: Scanner, { type, typed, now }: Operand): string | number {
  const { at } = scanner;
  const length = typed && type === 'number' ? scanner.take(lengthWords) : undefined;
  const meant = length === undefined ? undefined : typed?.(length);
  if (meant !== undefined) return meant;
  scanner.return(at);
  const number = type === 'text' ? undefined : scanner.number();
  if (number !== undefined) return number;
  const quoted = type === 'number' && typed === undefined ? undefined : scanner.quoted(`'"`);
  const text = quoted ?? (now === undefined ? undefined : scanner.bareValue());
  const value =
    text === undefined ? undefined : (typed?.(text) ?? (type === 'number' ? nonFinite(text) : text));
  return value ?? scanner.fail(now !== undefined && type === 'text' ? 'a text' : words[type], at);
}

/** What a text says that is no finite number: `NaN`, `inf`, `-Infinity`. A param may have it as a text, too. */
const nonFinite = (text: string): number | undefined => {
  if (/^nan$/i.test(text)) return Number.NaN;
  return /^[+-]?inf(inity)?$/i.test(text) ? (text[0] === '-' ? -1 : 1) * Infinity : undefined;
};

function readTime(scanner: Scanner, { type, now }: Operand): TimeSpan {
  const { at } = scanner;
  const span = now && readTimes(scanner, now);
  if (span !== undefined) return span;
  const number = scanner.number();
  if (number !== undefined) return { from: number, to: Math.floor(number) + 1 };
  const text = scanner.quoted(`'"`) ?? (now === undefined ? undefined : scanner.bareValue());
  const time = text !== undefined && date.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return { from: time, to: time + 1 };
  return (text && now && timeSpan(text, now)) || scanner.fail(words[type], at);
}

/** Read a time in words, such as `yesterday` or `7 days ago`, if it comes next. */
export function readTimes(scanner: Scanner, now: Date): TimeSpan | undefined {
  const { at } = scanner;
  const phrase = scanner.take(timeWords);
  const span = phrase === undefined ? undefined : timeSpan(phrase, now);
  if (span === undefined) scanner.return(at);
  return span;
}

const date = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

const compareTime: Record<Sign, (span: TimeSpan) => Test> = {
  '=': (span) => (time) => isIn(span, time),
  '!=': (span) => (time) => !isIn(span, time),
  '<':
    ({ from }) =>
    (time) =>
      asNumber(time) < from,
  '<=':
    ({ to }) =>
    (time) =>
      asNumber(time) < to,
  '>':
    ({ from }) =>
    (time) =>
      asNumber(time) > from,
  '>=':
    ({ from }) =>
    (time) =>
      asNumber(time) >= from,
};

const isIn = ({ from, to }: TimeSpan, time: string | number): boolean =>
  from <= asNumber(time) && asNumber(time) < to;

const words: Record<ValueType, string> = {
  number: 'a number',
  text: 'a text in quotes',
  time: 'a time (milliseconds, or a date such as "2026-01-31" or "2026-01-31T12:00:00Z")',
  'text-or-number': 'a text in quotes or a number',
};

/** NaN is the same as the NaN that somebody asks for. */
const isSame = (one: string | number, other: string | number): boolean =>
  one === other || Object.is(one, other);

const compare: Record<Sign, (one: string | number, other: string | number) => boolean> = {
  '=': isSame,
  '!=': (one, other) => !isSame(one, other),
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

function expression(scanner: Scanner, { type, expressions, work }: Operand, start: number): Test {
  if (expressions === undefined || !isText(type))
    return scanner.fail(`a comparison with ${words[type]}`, start);
  const { at } = scanner;
  const pattern =
    scanner.quoted(`'"`) ?? scanner.bareExpression() ?? scanner.fail('a regular expression', at);
  const compiled = expressions(pattern);
  if (typeof compiled === 'string') return scanner.fail(compiled, at);
  return (value) => {
    const text = String(value);
    work.steps += text.length * compiled.passes;
    // A row may have work for seconds. A request is refused behind it; a filter that is kept finds nothing more.
    return work.steps <= maxSteps && compiled.test(text);
  };
}

function range(scanner: Scanner, operand: Operand): Test {
  const { at } = scanner;
  const low = readExpected(scanner, operand);
  if (scanner.keyword('AND') === undefined) return scanner.fail('AND');
  const high = readExpected(scanner, operand);
  if (typeof low === 'object' && typeof high === 'object')
    return (value) => low.from <= asNumber(value) && asNumber(value) < high.to;
  if (typeof low !== 'number' || typeof high !== 'number') return scanner.fail('two numbers or times', at);
  return (value) => low <= asNumber(value) && asNumber(value) <= high;
}

function membership(scanner: Scanner, operand: Operand): Test {
  if (scanner.sign('(') === undefined) return scanner.fail('(');
  const texts = new Set<string>();
  const numbers = new Set<number>();
  const spans: TimeSpan[] = [];
  for (let isOpen = true; isOpen; ) {
    const value = readExpected(scanner, operand);
    if (typeof value === 'string') texts.add(value);
    else if (typeof value === 'number') numbers.add(value);
    else spans.push(value);
    const mark = scanner.sign(',', ')') ?? scanner.fail(', or )');
    // Python writes a tuple of one element as ('a',).
    isOpen = mark === ',' && scanner.sign(')') === undefined;
  }
  return (value) =>
    texts.has(String(value)) ||
    (numbers.size > 0 && numbers.has(asNumber(value))) ||
    spans.some((span) => isIn(span, value));
}
