import { join } from 'node:path';
import { CliError, exitCodes } from '../cli-error.ts';
import { listDataFiles } from '../run/list-files.ts';
import { packFiles } from '../run/pack-files.ts';
import { inspectFiles } from '../run/source-files.ts';
import { type DigestedFile, digestFile } from './digest-file.ts';
import { withScratchFolder } from './scratch-folder.ts';

interface Preparing {
  isFolder: boolean;
  signal: AbortSignal;
  /** Told what takes its time. */
  onStep(text: string): void;
}

/** Calls `use` with a file of data, or with an archive of a folder, which is removed afterwards. */
export async function withDataFile<T>(
  path: string,
  { isFolder, signal, onStep }: Preparing,
  use: (file: DigestedFile) => Promise<T>,
): Promise<T> {
  if (!isFolder) {
    onStep('reading…');
    return use(await digestFile(path, signal));
  }
  onStep('packing…');
  const { files, leftOut } = await inspectFiles(path, await listDataFiles(path));
  if (leftOut.length > 0)
    throw new CliError(
      `Data sets hold files alone. List these in .mpsignore, or replace them:\n${leftOut.map((one) => `  ${one}`).join('\n')}`,
      exitCodes.usage,
    );
  if (files.length === 0) throw new CliError(`${path} holds no file.`, exitCodes.usage);
  // Data is mostly compressed already, or so large that compressing takes longer than sending.
  const packing = { signal, isCompressed: false };
  return withScratchFolder(async (scratch) =>
    use(await packFiles(path, files, join(scratch, 'data.tar'), packing)),
  );
}
