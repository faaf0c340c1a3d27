import type { FoundFile } from './find-files.ts';

/** What a look told of a file. */
export interface Look {
  version: string;
  identity: string;
  /** Looks in a row that met it changed. */
  changes: number;
  /** Whether it can be taken for complete. */
  isComplete: boolean;
}

/** Changes in a row after which a file is one that is written again and again. */
const restlessFrom = 2;

/**
 * Looks at a file that may be being written. It is complete where it was the same at the look before; where another was
 * moved into its place since, as checkpoints are replaced at one blow; and, where it is written again and again so that
 * no two looks meet the same, once nobody has written to it for `quietMilliseconds`.
 */
export function lookAtFile(found: FoundFile, before: Look | undefined, quietMilliseconds: number): Look {
  const { version, identity, movedAfterWrite, modified } = found;
  if (before === undefined) return { version, identity, changes: 0, isComplete: false };
  if (before.version === version) return { version, identity, changes: 0, isComplete: true };
  const changes = before.changes + 1;
  const wasReplaced = before.identity !== identity && movedAfterWrite;
  const isQuiet = changes >= restlessFrom && Date.now() - modified >= quietMilliseconds;
  return { version, identity, changes, isComplete: wasReplaced || isQuiet };
}
