import { isUtf8 } from 'node:buffer';
import { ArchiveError, type ArchiveLimits, shown } from './archive-error.ts';

/**
 * Split the path of an entry into its folders and name, such as `['a', 'b.txt']`. Return an empty list for the
 * archive's root (`./`).
 * @throws ArchiveError for a path that could lead out of the folder on any platform, or that exceeds a limit
 */
export function entryPath(path: string, limits: ArchiveLimits): string[] {
  const refuse = (fault: string): never => {
    throw new ArchiveError(`entry ${shown(path)}: ${fault}`);
  };
  if (Buffer.byteLength(path) > limits.maxPathBytes) {
    refuse(`its path is longer than ${limits.maxPathBytes} bytes`);
  }
  if (path === '') refuse('it has no name');
  if (/\p{Cc}/u.test(path)) refuse('its path holds a control character');
  if (/[\p{Cs}\ufffd]/u.test(path)) refuse('its path is not valid Unicode');
  if (path.includes('\\')) refuse('its path holds a backslash; use / between folders');
  if (path.startsWith('/')) refuse('its path is absolute');
  if (/^[A-Za-z]:/.test(path)) refuse('its path starts with a drive letter');
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) refuse('its path leads out of the archive (..)');
  if (segments.length > limits.maxDepth) refuse(`it is more than ${limits.maxDepth} folders deep`);
  if (segments.some((segment) => Buffer.byteLength(segment) > maxNameBytes)) {
    refuse(`a name in its path is longer than ${maxNameBytes} bytes`);
  }
  return segments;
}

/** Longest file name in bytes that Linux and macOS file systems accept. */
const maxNameBytes = 255;

/** Decode the bytes of a name. @throws ArchiveError if they are not UTF-8 */
export function decodeName(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw new ArchiveError(`entry ${shown(bytes.toString('latin1'))}: its name is not UTF-8`);
}
