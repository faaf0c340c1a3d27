import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Canaries } from '../../faults/secrets/canaries.ts';

const pieceBytes = 64 * 1024 * 1024;
/** More than a canary takes in any of its forms, so that none is missed between two pieces. */
const overlap = 4096;

/** The canaries in a file of any size. */
async function searchFile(path: string, canaries: Canaries): Promise<Set<string>> {
  const found = new Set<string>();
  await using file = await open(path);
  const { size } = await file.stat();
  const piece = Buffer.allocUnsafe(Math.min(size, pieceBytes));
  for (let at = 0; at < size; at += pieceBytes - overlap) {
    const { bytesRead } = await file.read(piece, 0, piece.length, at);
    for (const what of canaries.within(piece.subarray(0, bytesRead))) found.add(what);
    if (at + bytesRead >= size) break;
  }
  return found;
}

/** Which files below a folder hold a canary, and how many were read. */
export async function searchFiles(
  folder: string,
  canaries: Canaries,
): Promise<{ files: number; found: string[] }> {
  const found: string[] = [];
  let files = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files += 1;
    for (const what of await searchFile(path, canaries)) found.push(`${what} in ${path}`);
  }
  return { files, found };
}
