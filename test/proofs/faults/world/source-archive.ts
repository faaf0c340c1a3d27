import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { create as createTar } from 'tar';

/** What a source archive holds, by the path in it. */
export type SourceFiles = Readonly<Record<string, string | Buffer>>;

/** A `.tar.gz` of these files. */
export async function archiveOf(files: SourceFiles): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'mps-source-'));
  try {
    for (const [name, content] of Object.entries(files)) {
      const file = join(folder, 'source', name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    }
    const file = join(folder, 'source.tgz');
    await createTar({ gzip: true, file, cwd: join(folder, 'source') }, Object.keys(files));
    return await readFile(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}
