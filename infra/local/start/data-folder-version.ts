import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { CommandError } from '../../command/command-error.ts';
import { writeDurably } from '../batch/durable-file.ts';

/**
 * Version of the folder's layout. It grows with a change that an earlier release cannot read; what a record holds has a
 * version of its own.
 */
export const dataFolderVersion = 1;

const Stored = z.object({ version: z.number().int().min(1) });

/**
 * Check that this release can use a data folder, and note its version there. A folder without one is new, or from a
 * release before versions; both become folders of this version.
 * @throws CommandError for a folder of a newer version
 */
export async function checkDataFolderVersion(path: string, file: string): Promise<void> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    return writeDurably(file, JSON.stringify({ version: dataFolderVersion }));
  }
  const version = readVersion(text);
  if (version === undefined) {
    throw new CommandError(
      `The data folder ${path} has no readable version. Put {"version":${dataFolderVersion}} into ${file} if this release or an older one wrote the folder.`,
    );
  }
  if (version > dataFolderVersion) {
    throw new CommandError(
      `The data folder ${path} is of version ${version}, and this release uses versions up to ${dataFolderVersion}. Start it with the release that wrote it or a newer one, restore a backup from before, or choose another folder with --data.`,
    );
  }
  if (version < dataFolderVersion) await writeDurably(file, JSON.stringify({ version: dataFolderVersion }));
}

function readVersion(text: string): number | undefined {
  try {
    return Stored.parse(JSON.parse(text)).version;
  } catch {
    return undefined;
  }
}
