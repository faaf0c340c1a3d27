import { stat } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { CliError, exitCodes } from '../cli-error.ts';

/** Where a file of an experiment is saved. @throws CliError for a path that leads out of the folder */
export function pullPlace(folder: string, path: string): string {
  const place = resolve(folder, path);
  if (place.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)) return place;
  throw new CliError(`The artifact "${path}" would be saved outside of ${folder}; nothing was downloaded.`);
}

const kindOf = (path: string): Promise<'folder' | 'file' | undefined> =>
  stat(path).then(
    (found) => (found.isDirectory() ? 'folder' : 'file'),
    () => undefined,
  );

/**
 * Makes sure that files can be saved beside what is there already.
 *
 * @param folder which exists or not
 * @param places below it
 * @throws CliError where a file stands in the way of a folder, or a folder in that of a file
 */
export async function refusePullClashes(folder: string, places: readonly string[]): Promise<void> {
  const fault = (text: string) =>
    new CliError(`${text}; nothing was downloaded. Name another folder by --to.`, exitCodes.usage);
  const folders = new Set([folder]);
  for (const place of places) for (let at = dirname(place); at !== folder; at = dirname(at)) folders.add(at);
  const both = places.find((place) => folders.has(place));
  if (both !== undefined)
    throw fault(
      `${both} would be both a file and a folder: the experiment left ${relative(folder, both)} and files below it`,
    );
  for (const one of folders) if ((await kindOf(one)) === 'file') throw fault(`${one} is no folder`);
  for (const place of places) if ((await kindOf(place)) === 'folder') throw fault(`${place} is a folder`);
}
