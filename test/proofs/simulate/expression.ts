import type { Item, Key } from '../../../shared/data/table/table.ts';

type Names = Readonly<Record<string, string>>;
type Values = Readonly<Record<string, unknown>>;

/** Context in which an expression is evaluated. */
export interface Given {
  item: Readonly<Record<string, unknown>> | undefined;
  names: Names;
  values: Values;
}

type Test = (given: Given) => boolean;

const tokenPattern = /\s*(attribute_exists|attribute_not_exists|AND|OR|IN|<=|>=|<>|[=<>(),]|#\w+|:\w+)/gy;

const comparisons: Readonly<Record<string, (one: number | string, other: number | string) => boolean>> = {
  '<': (one, other) => one < other,
  '<=': (one, other) => one <= other,
  '>': (one, other) => one > other,
  '>=': (one, other) => one >= other,
};

/** A reader of the condition expressions that `shared/data/table/condition.ts` writes. */
class ConditionReader {
  readonly #tokens: string[];
  #index = 0;

  constructor(text: string) {
    this.#tokens = [...text.matchAll(tokenPattern)].map(([, token]) => token ?? '');
  }

  #next(expected?: string): string {
    const token = this.#tokens[this.#index] ?? '';
    if (expected !== undefined && token !== expected) throw new Error(`expected ${expected}, not ${token}`);
    this.#index += 1;
    return token;
  }

  #list(separator: 'AND' | 'OR', operand: () => Test): Test {
    const tests = [operand()];
    while (this.#tokens[this.#index] === separator) {
      this.#next();
      tests.push(operand());
    }
    if (tests.length === 1 && tests[0] !== undefined) return tests[0];
    return separator === 'AND'
      ? (given) => tests.every((test) => test(given))
      : (given) => tests.some((test) => test(given));
  }

  read(): Test {
    return this.#list('OR', () => this.#list('AND', () => this.#operand()));
  }

  #operand(): Test {
    const token = this.#next();
    if (token === '(') {
      const test = this.read();
      this.#next(')');
      return test;
    }
    if (token.startsWith('attribute_')) {
      this.#next('(');
      const name = this.#next();
      this.#next(')');
      const wanted = token === 'attribute_exists';
      return ({ item, names }) => (item?.[names[name] ?? ''] !== undefined) === wanted;
    }
    return this.#comparison(token, this.#next());
  }

  #comparison(name: string, operator: string): Test {
    const present = ({ item, names }: Given) => item?.[names[name] ?? ''];
    if (operator === 'IN') {
      this.#next('(');
      const among: string[] = [];
      for (let token = this.#next(); token !== ')'; token = this.#next())
        if (token !== ',') among.push(token);
      return (given) => among.some((value) => present(given) === given.values[value]);
    }
    const value = this.#next();
    if (operator === '=') return (given) => present(given) === given.values[value];
    if (operator === '<>') return (given) => present(given) !== given.values[value];
    const compare = comparisons[operator];
    if (compare === undefined) throw new Error(`${operator} is no comparison`);
    return (given) => {
      const [one, other] = [present(given), given.values[value]];
      const isOrdered = typeof one === typeof other && (typeof one === 'number' || typeof one === 'string');
      return isOrdered && compare(one as string, other as string);
    };
  }
}

const conditions = new Map<string, Test>();

/** Whether a condition holds of an item. */
export function holds(condition: string | undefined, given: Given): boolean {
  if (condition === undefined || condition === '') return true;
  let test = conditions.get(condition);
  if (test === undefined) {
    test = new ConditionReader(condition).read();
    conditions.set(condition, test);
  }
  return test(given);
}

const clausePattern = /(SET|ADD|REMOVE) (.*?)(?= (?:SET|ADD|REMOVE) |$)/g;

/** Return the item that an update expression makes of another one, or of none. */
export function updated(key: Key, expression: string, { item, names, values }: Given): Item {
  const changed: Record<string, unknown> = { ...item };
  for (const [, clause, text = ''] of expression.matchAll(clausePattern)) {
    for (const part of text.split(', ')) {
      const [placeholder = '', ...rest] = part.split(/ = | /);
      const name = names[placeholder] ?? '';
      const value = values[rest[0] ?? ''];
      if (clause === 'SET') changed[name] = value;
      else if (clause === 'ADD') changed[name] = Number(changed[name] ?? 0) + Number(value);
      else delete changed[name];
    }
  }
  return { ...changed, pk: key.pk, sk: key.sk };
}
