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
