import { Scanner } from './scanner.ts';
import type { NamedValue, Vocabulary } from './vocabulary.ts';

/** A value by which rows are ordered. */
export interface OrderTerm<Row> {
  name: NamedValue<Row>;
  descending: boolean;
}

/** The terms of an order, the first of which counts most; none of an empty text. @throws SearchSyntaxError */
export function parseOrder<Row>(text: string, vocabulary: Vocabulary<Row>): OrderTerm<Row>[] {
  const scanner = new Scanner(text);
  const terms: OrderTerm<Row>[] = [];
  if (scanner.isAtEnd) return terms;
  do {
    const { at } = scanner;
    const name = scanner.name(vocabulary);
    if (name.readAll !== undefined) return scanner.fail('a name of which a row has one value', at);
    terms.push({ name, descending: scanner.keyword('ASC', 'DESC') === 'DESC' });
  } while (scanner.sign(',') !== undefined);
  return scanner.isAtEnd ? terms : scanner.fail('ASC, DESC, a comma or the end');
}
