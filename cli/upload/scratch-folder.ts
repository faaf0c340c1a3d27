import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Calls `use` with an empty folder, which goes afterwards, also where Ctrl-C ends the command meanwhile. */
export async function withScratchFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'mps-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.on('exit', remove);
  try {
    return await use(folder);
  } finally {
    process.removeListener('exit', remove);
    remove();
  }
}
