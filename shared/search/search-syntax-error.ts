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
