import { describe, expect, test } from 'vitest';
import type { FoundFile } from '../../../shared/runner/find-files.ts';
import { type Look, lookAtFile } from '../../../shared/runner/look-at-file.ts';

const quiet = 2000;
const file = (version: number, more: Partial<FoundFile> = {}): FoundFile => ({
  path: 'model.pt',
  size: 1,
  version: String(version),
  identity: 'inode 1',
  modified: Date.now(),
  movedAfterWrite: false,
  open: () => Promise.reject(new Error('not opened')),
  ...more,
});

/** Whether a file is complete at each of the looks that meet it so. */
function looks(...files: FoundFile[]): boolean[] {
  let before: Look | undefined;
  return files.map((found) => {
    before = lookAtFile(found, before, quiet);
    return before.isComplete;
  });
}

describe('a file that may be being written', () => {
  test('is complete once two looks met the same', () => {
    expect(looks(file(1), file(1), file(2), file(2))).toEqual([false, true, false, true]);
  });

  test('is complete when it was moved into the place of another', () => {
    const moved = { identity: 'inode 2', movedAfterWrite: true };
    expect(looks(file(1), file(2, moved))).toEqual([false, true]);
    expect(looks(file(1), file(2, { ...moved, movedAfterWrite: false }))).toEqual([false, false]);
    expect(looks(file(1), file(2, { ...moved, identity: 'inode 1' }))).toEqual([false, false]);
  });

  test('that is written again and again is complete when nobody has written for a while', () => {
    const older = (version: number) => file(version, { modified: Date.now() - quiet });
    expect(looks(older(1), older(2), older(3), older(4))).toEqual([false, false, true, true]);
    expect(looks(file(1), file(2), file(3), file(4))).toEqual([false, false, false, false]);
  });
});
