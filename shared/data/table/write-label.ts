/**
 * A name of writes of a transaction, by which the caller learns whether the condition of one of them failed.
 *
 * @example
 * const lastAdmin = new WriteLabel('last admin');
 * try {
 *   await accounts.write(removal, lastAdmin.on(countAdmins(-1)));
 * } catch (error) {
 *   if (lastAdmin.failedIn(error)) …
 * }
 */
export class WriteLabel {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  /** The write under this label. */
  on<W extends object>(write: W): W & { label: WriteLabel } {
    return { ...write, label: this };
  }

  /** Whether the condition of a write under this label failed. */
  failedIn(error: unknown): boolean {
    return error instanceof ConditionFailedError && error.failed.includes(this);
  }
}

/** The condition of a write did not hold; nothing of its transaction was written. */
export class ConditionFailedError extends Error {
  override readonly name = 'ConditionFailedError';
  /** Label of each write whose condition failed; undefined for a write without one. */
  readonly failed: readonly (WriteLabel | undefined)[];

  constructor(failed: readonly (WriteLabel | undefined)[] = [undefined]) {
    const names = failed.map((label) => label?.name ?? 'a write without a label');
    super(`the condition failed of: ${names.join(', ')}`);
    this.failed = failed;
  }

  /** Whether no writes but those under these labels failed. */
  isOnly(...labels: readonly WriteLabel[]): boolean {
    return this.failed.every((label) => label !== undefined && labels.includes(label));
  }
}

/**
 * Wait for a write. Return false where one of its conditions failed, so that nothing was written: another change came
 * first. Other errors are thrown.
 *
 * @example
 * const isClaimed = await tryWrite(records.write({ put: claim, if: { exists: false } }));
 */
export async function tryWrite(write: Promise<void>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ConditionFailedError) return false;
    throw error;
  }
}
