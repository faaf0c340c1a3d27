import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { readJson } from '../../shared/core/text/read-json.ts';
import { loginFile, writeSecret } from '../login/saved-logins.ts';
import { folderIdentity } from './folder-identity.ts';

/**
 * Whether this user has used a project from a folder before, on this machine. Without that, the name in an `mps.yaml`
 * says only what the author of the folder wants.
 */
export async function isKnownFolder(env: Variables, place: ProjectOfFolder): Promise<boolean> {
  const asked = await knownFolder(place);
  return (await readKnown(env)).some((one) => isSame(one, asked));
}

/** Note that this user uses a project from a folder. */
export async function rememberFolder(env: Variables, place: ProjectOfFolder): Promise<void> {
  const now = await knownFolder(place);
  const known = await readKnown(env);
  if (known.some((one) => isSame(one, now))) return;
  await writeSecret(fileOf(env), `${JSON.stringify([now, ...known].slice(0, maxKnown), undefined, 2)}\n`);
}

/** Return another folder of this machine that uses the same project; undefined if this folder or none is known to. */
export async function otherFolder(env: Variables, place: ProjectOfFolder): Promise<string | undefined> {
  const asked = await knownFolder(place);
  const known = (await readKnown(env)).filter(
    (one) => one.url === asked.url && one.project_id === asked.project_id && existsSync(one.folder),
  );
  // A repository may be there twice, and its mps.yaml changes.
  if (known.some((one) => one.folder === asked.folder || one.identity === asked.identity)) return undefined;
  return known[0]?.folder;
}

export interface ProjectOfFolder {
  /** Address of the service. */
  url: string;
  project_id: string;
  folder: string;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** A path alone does not make a folder known: another program may have been unpacked there. */
const KnownFolder = z.object({
  url: z.string(),
  project_id: z.string(),
  folder: z.string(),
  identity: z.string(),
});
type KnownFolder = z.infer<typeof KnownFolder>;

async function knownFolder({ url, project_id, folder }: ProjectOfFolder): Promise<KnownFolder> {
  return { url, project_id, folder: await realpath(folder), identity: await folderIdentity(folder) };
}

/** The oldest ones are forgotten, and their next run asks again. */
const maxKnown = 1000;

const fileOf = (env: Variables): string => join(dirname(loginFile(env)), 'folders.json');

/** Read the known folders, newest first. A missing or damaged file knows none. */
const readKnown = async (env: Variables): Promise<KnownFolder[]> =>
  (await readJson(fileOf(env), z.array(KnownFolder))) ?? [];

const isSame = (one: KnownFolder, other: KnownFolder): boolean =>
  one.identity === other.identity &&
  one.url === other.url &&
  one.project_id === other.project_id &&
  one.folder === other.folder;
