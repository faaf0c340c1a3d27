export type Item = Key & Readonly<Record<string, unknown>>;

/** Primary key of an item. Only the entity files of `shared/data` make keys. */
export interface Key {
  pk: string;
  sk: string;
}

/** A stored item. @throws Error where it has no key, which no item of a table lacks */
export function requireItem(value: Record<string, unknown>): Item {
  if (!isItem(value)) throw new Error('an item without its primary key');
  return value;
}

function isItem(value: Record<string, unknown>): value is Item {
  return typeof value['pk'] === 'string' && typeof value['sk'] === 'string';
}

/** A stored record that this version of the service cannot read: written by a newer one, or damaged. */
export class UnreadableRecordError extends Error {
  override readonly name = 'UnreadableRecordError';
  /** Key of the item, as `pk/sk`. */
  readonly key: string;
  /** What is wrong with it: names of attributes, never their values. */
  readonly reason: string;

  constructor({ pk, sk }: Readonly<{ pk: string; sk: string }>, reason: string) {
    super(`${pk}/${sk} ${reason}`);
    this.key = `${pk}/${sk}`;
    this.reason = reason;
  }
}
