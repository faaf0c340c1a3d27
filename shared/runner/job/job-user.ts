import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandUser } from '../../process/executable.ts';
import { type HostLock, tryHostLock } from '../host/host-lock.ts';

export interface JobUser {
  /** Undefined where this process is not root: jobs then run with its rights. */
  user: CommandUser | undefined;
  release(): Promise<void>;
}

/** One folder for the host, because a second service on it uses ids of the same range. */
const hostFolder = '/var/tmp/model-project-service-users';

/** How many jobs of one host may run under users of their own. */
const slots = 64;

/**
 * Claim a user id that no other running job of this host has, so that all processes of this user belong to this job. Ids
 * need no entry in /etc/passwd.
 * @param folder keeps the locks of the ids in use
 */
export async function claimJobUser(firstUid: number, folder = hostFolder): Promise<JobUser> {
  if (process.getuid?.() !== 0) return { user: undefined, release: async () => {} };
  await ownFolder(folder);
  for (let slot = 0; slot < slots; slot += 1) {
    const uid = firstUid + slot;
    const lock: HostLock | null = await tryHostLock(join(folder, String(uid)));
    if (lock !== null) return { user: { uid, gid: uid }, release: () => lock.release() };
  }
  throw new Error(`all ${slots} users for jobs are taken on this host`);
}

/** Any user may create a folder there, so only one that root owns is trusted. */
async function ownFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== 0 || (found.mode & 0o022) !== 0) {
    throw new Error(`${folder} belongs to somebody else; remove it`);
  }
}
