import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandUser } from '../../host/host.ts';
import { type HostLock, tryHostLock } from '../../host/host-lock.ts';

export interface JobUser {
  /** Undefined if this process is not root. Jobs then run with its rights. */
  user: CommandUser | undefined;
  release(): Promise<void>;
}

/** One folder per host, because a second service on the host uses ids of the same range. */
const hostFolder = '/var/tmp/model-project-service-users';

/** Maximum number of jobs of one host with their own users. */
const slots = 64;

/**
 * Claim a user id that no other running job of this host has. All processes of this user then belong to this job.
 * Ids need no entry in /etc/passwd.
 * @param folder contains the locks of the ids in use
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

/** Create the folder. Any user may create one there, so trust only one that root owns. */
async function ownFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const stats = await lstat(folder);
  if (!stats.isDirectory() || stats.uid !== 0 || (stats.mode & 0o022) !== 0) {
    throw new Error(`${folder} belongs to another user; remove it`);
  }
}
