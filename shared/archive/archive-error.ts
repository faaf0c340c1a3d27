/** The archive is not valid. The message is for its author and names the entry and the error. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

/** Limits of an archive. */
export interface ArchiveLimits {
  /** Files and folders, with the folders that are only named as part of a path. */
  maxEntries: number;
  /** Unpacked bytes of all files together, counted as they come out and not as headers state them. */
  maxBytes: number;
  maxPathBytes: number;
  /** Folders within folders; `a/b/c.txt` has a depth of 3. */
  maxDepth: number;
}

/** Wrap a decoder's error about damaged input; errors of this machine (a full disk) are returned unchanged. */
export function damaged(cause: unknown): unknown {
  if (cause instanceof ArchiveError || !(cause instanceof Error) || 'syscall' in cause) return cause;
  return new ArchiveError(`the archive is damaged: ${cause.message}`, { cause });
}

/** A name as it can be shown in a message: quoted, without control characters, not endless. */
export function shown(name: string): string {
  return JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name).replaceAll('\u007f', '\\u007f');
}
