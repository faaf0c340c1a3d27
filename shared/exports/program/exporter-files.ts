import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const folder = import.meta.dirname;

/** Files of the exporter, a program in Python. */
export interface ExporterFiles {
  /** Its modules, by name. */
  modules: Readonly<Record<string, string>>;
  /** The packages that it needs, as pip's list of requirements. */
  requirements: string;
}

/**
 * Return the files of the exporter. A bundle contains them: `infra/service/bundle-options.ts` replaces this file there.
 */
export async function exporterFiles(): Promise<ExporterFiles> {
  const names = (await Array.fromAsync(glob('**/*.{py,txt}', { cwd: folder }))).toSorted();
  const read = async (name: string) => [name, await readFile(join(folder, name), 'utf8')] as const;
  return {
    modules: Object.fromEntries(await Promise.all(names.map(read))),
    requirements: await readFile(join(folder, '../requirements.txt'), 'utf8'),
  };
}
