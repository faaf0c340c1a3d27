import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { create } from 'tar';

export interface SourceArchive {
  bytes: Uint8Array<ArrayBuffer>;
  sha256: string;
}

/** A folder's Python files and requirements as tar.gz, reproducible: the same files make the same bytes. */
export async function packSource(folder: string): Promise<SourceArchive> {
  const files = (await readdir(folder)).filter((name) => /\.(?:py|txt)$/.test(name)).sort();
  const packed = await buffer(create({ cwd: folder, gzip: true, portable: true, mtime: new Date(0) }, files));
  const bytes = new Uint8Array(packed);
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}
