/** The archive is not valid. The message is for its author and names the entry and the error. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

export interface ArchiveLimits {
  /** Maximum number of files and folders, including folders that only occur in a path. */
  maxEntries: number;
  /** Maximum unpacked bytes of all files together, counted during unpacking. Sizes in headers are not trusted. */
  maxBytes: number;
  maxPathBytes: number;
  /** Maximum number of nested folders; `a/b/c.txt` has a depth of 3. */
  maxDepth: number;
}

/** Wrap a decoder's error about damaged input. Return errors of this machine, such as a full disk, unchanged. */
export function damaged(cause: unknown): unknown {
  if (cause instanceof ArchiveError || !(cause instanceof Error) || 'syscall' in cause) return cause;
  return new ArchiveError(`the archive is damaged: ${cause.message}`, { cause });
}

/** Format a name for a message: quoted, without control characters, shortened. */
export function shown(name: string): string {
  return JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name).replaceAll('\u007f', '\\u007f');
}
