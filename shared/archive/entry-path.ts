import { isUtf8 } from 'node:buffer';
import { ArchiveError, type ArchiveLimits, shown } from './archive-error.ts';

/**
 * Split the path of an entry into its folders and name, such as `['a', 'b.txt']`. Return an empty list for the
 * archive's root (`./`).
 * @throws ArchiveError for a path that could lead out of the folder on any platform, or that exceeds a limit
 */
export function entryPath(path: string, limits: ArchiveLimits): string[] {
  const fault = entryPathFault(path, limits);
  if (fault !== undefined) throw new ArchiveError(`entry ${shown(path)}: ${fault}`);
  return segmentsOf(path);
}

/** Return why an archive may not have a path; undefined if it may. */
export function entryPathFault(
  path: string,
  { maxPathBytes, maxDepth }: Pick<ArchiveLimits, 'maxPathBytes' | 'maxDepth'>,
): string | undefined {
  if (Buffer.byteLength(path) > maxPathBytes) return `its path is longer than ${maxPathBytes} bytes`;
  if (path === '') return 'it has no name';
  if (/\p{Cc}/u.test(path)) return 'its path holds a control character';
  if (/[\p{Cs}\ufffd]/u.test(path)) return 'its path is not valid Unicode';
  if (path.includes('\\')) return 'its path holds a backslash; use / between folders';
  if (path.startsWith('/')) return 'its path is absolute';
  if (/^[A-Za-z]:/.test(path)) return 'its path starts with a drive letter';
  const segments = segmentsOf(path);
  if (segments.includes('..')) return 'its path leads out of the archive (..)';
  if (segments.length > maxDepth) return `it is more than ${maxDepth} folders deep`;
  if (segments.some((segment) => Buffer.byteLength(segment) > maxNameBytes))
    return `a name in its path is longer than ${maxNameBytes} bytes`;
  return undefined;
}

const segmentsOf = (path: string): string[] =>
  path.split('/').filter((segment) => segment !== '' && segment !== '.');

/** Longest file name in bytes that Linux and macOS file systems accept. */
const maxNameBytes = 255;

/** Decode the bytes of a name. @throws ArchiveError if they are not UTF-8 */
export function decodeName(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw new ArchiveError(`entry ${shown(bytes.toString('latin1'))}: its name is not UTF-8`);
}
