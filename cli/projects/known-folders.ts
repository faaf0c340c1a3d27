import { readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { loginFile, writeSecret } from '../login/saved-logins.ts';

/**
 * Whether this user has used a project from a folder before, on this machine. Without that, the name in an `mps.yaml`
 * says only what the author of the folder wants.
 */
export async function isKnownFolder(env: Variables, place: ProjectOfFolder): Promise<boolean> {
  const folder = await realpath(place.folder);
  return (await readKnown(env)).some((one) => isSame(one, { ...place, folder }));
}

/** Note that this user uses a project from a folder. */
export async function rememberFolder(env: Variables, place: ProjectOfFolder): Promise<void> {
  const now = { url: place.url, project_id: place.project_id, folder: await realpath(place.folder) };
  const known = await readKnown(env);
  if (known.some((one) => isSame(one, now))) return;
  await writeSecret(fileOf(env), `${JSON.stringify([now, ...known].slice(0, maxKnown), undefined, 2)}\n`);
}

export interface ProjectOfFolder {
  /** Address of the service. */
  url: string;
  project_id: string;
  folder: string;
}

type Variables = Readonly<Record<string, string | undefined>>;

const KnownFolders = z.array(z.object({ url: z.string(), project_id: z.string(), folder: z.string() }));

/** The oldest ones are forgotten, and their next run asks again. */
const maxKnown = 1000;

const fileOf = (env: Variables): string => join(dirname(loginFile(env)), 'folders.json');

/** Read the known folders, newest first. A missing or damaged file knows none. */
async function readKnown(env: Variables): Promise<z.infer<typeof KnownFolders>> {
  try {
    return KnownFolders.parse(JSON.parse(await readFile(fileOf(env), 'utf8')));
  } catch {
    return [];
  }
}

const isSame = (one: ProjectOfFolder, other: ProjectOfFolder): boolean =>
  one.url === other.url && one.project_id === other.project_id && one.folder === other.folder;
