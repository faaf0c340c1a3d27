export type Item = Key & Readonly<Record<string, unknown>>;

/** Primary key of an item. Only the entity files of `shared/data` make keys. */
export interface Key {
  pk: string;
  sk: string;
}

/** Return a text that identifies an item in its table. No key contains a line break. */
export const itemName = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

/** Whether DynamoDB can hold an item under a key: each part has 1 byte at least, and at most 2,048 and 1,024. */
export const canHold = ({ pk, sk }: Key): boolean => hasBytes(pk, 2048) && hasBytes(sk, 1024);

const hasBytes = (text: string, most: number): boolean => text !== '' && Buffer.byteLength(text) <= most;

/** Check that a value is a stored item. @throws Error if it has no primary key, which every item of a table has */
export function requireItem(value: Record<string, unknown>): Item {
  if (!isItem(value)) throw new Error('an item without its primary key');
  return value;
}

function isItem(value: Record<string, unknown>): value is Item {
  return typeof value['pk'] === 'string' && typeof value['sk'] === 'string';
}

/** This version of the service cannot read a stored record. A newer version wrote it, or it is damaged. */
export class UnreadableRecordError extends Error {
  override readonly name = 'UnreadableRecordError';
  /** Key of the item, as `pk/sk`. */
  readonly key: string;
  /** Description of the fault. It contains names of attributes, never their values. */
  readonly reason: string;

  constructor({ pk, sk }: Readonly<{ pk: string; sk: string }>, reason: string) {
    super(`${pk}/${sk} ${reason}`);
    this.key = `${pk}/${sk}`;
    this.reason = reason;
  }
}
