import { ConditionFailedError } from './write-label.ts';

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
