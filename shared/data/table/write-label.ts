/**
 * Label for writes of a transaction. It tells the caller whether the condition of one of them failed.
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

  /** Add this label to a write. */
  on<W extends object>(write: W): W & { label: WriteLabel } {
    return { ...write, label: this };
  }

  /** Whether the condition of a write under this label failed. */
  failedIn(error: unknown): boolean {
    return error instanceof ConditionFailedError && error.failed.includes(this);
  }
}

/** The condition of a write did not hold. Nothing of its transaction was written. */
export class ConditionFailedError extends Error {
  override readonly name = 'ConditionFailedError';
  /** Label of each write whose condition failed. Undefined for a write without a label. */
  readonly failed: readonly (WriteLabel | undefined)[];

  constructor(failed: readonly (WriteLabel | undefined)[] = [undefined]) {
    const names = failed.map((label) => label?.name ?? 'a write without a label');
    super(`the condition failed of: ${names.join(', ')}`);
    this.failed = failed;
  }

  /** Whether all failed writes have one of these labels. */
  isOnly(...labels: readonly WriteLabel[]): boolean {
    return this.failed.every((label) => label !== undefined && labels.includes(label));
  }
}

/**
 * Wait for a write. Return false if one of its conditions failed because another change came first; then nothing
 * was written. Throw other errors.
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
