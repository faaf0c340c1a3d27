import { readFileSync } from 'node:fs';

/** Read a file of a process; null if the process has ended, or the file may not be read. */
export function readProcFile(path: string): string | null {
  try {
    // UTF-8 avoids Node's 64 KiB buffer. No byte of a multi-byte character is a `)`.
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
