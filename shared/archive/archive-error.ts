/** What an archive may hold at most. */
export interface ArchiveLimits {
  /** Files and folders, with the folders that are only named as part of a path. */
  maxEntries: number;
  /** Unpacked bytes of all files together, counted as they come out and not as headers state them. */
  maxBytes: number;
  maxPathBytes: number;
  /** Folders within folders; `a/b/c.txt` has a depth of 3. */
  maxDepth: number;
}

/** The archive is at fault. The message is for the person who made it and names the entry and the fault. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

/** Wraps what a decoder throws about damaged input; faults of this machine (a full disk) pass as they are. */
export function damaged(cause: unknown): unknown {
  if (cause instanceof ArchiveError || !(cause instanceof Error) || 'syscall' in cause) return cause;
  return new ArchiveError(`the archive is damaged: ${cause.message}`, { cause });
}

/** A name as it can be shown in a message: quoted, without control characters, not endless. */
export function shown(name: string): string {
  return JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name).replaceAll('\u007f', '\\u007f');
}
