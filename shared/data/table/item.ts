/** Primary key of an item. Only the entity files of `shared/data` make keys. */
export interface Key {
  pk: string;
  sk: string;
}

export type Item = Key & Readonly<Record<string, unknown>>;

function isItem(value: Record<string, unknown>): value is Item {
  return typeof value['pk'] === 'string' && typeof value['sk'] === 'string';
}

/** A stored item. @throws Error where it has no key, which no item of a table lacks */
export function requireItem(value: Record<string, unknown>): Item {
  if (!isItem(value)) throw new Error('an item without its primary key');
  return value;
}
