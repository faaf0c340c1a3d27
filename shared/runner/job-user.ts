import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type HostLock, tryHostLock } from './environment/host-lock.ts';
import type { CommandUser } from './executable.ts';

/** How many jobs of one host may run under users of their own. */
const slots = 64;

export interface JobUser {
  /** Undefined where this process is not root: jobs then run with its rights. */
  user: CommandUser | undefined;
  release(): Promise<void>;
}

/**
 * A user id that no other running job of this host has, so that "all processes of this user" means all of this job
 * and nothing else. Ids need no entry in /etc/passwd.
 */
export async function claimJobUser(workFolder: string, firstUid: number): Promise<JobUser> {
  if (process.getuid?.() !== 0) return { user: undefined, release: async () => {} };
  const folder = join(workFolder, 'users');
  // Made one by one, for the mode goes to every folder that is made: jobs pass through the outer one.
  await mkdir(workFolder, { recursive: true, mode: 0o711 });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (let slot = 0; slot < slots; slot += 1) {
    const uid = firstUid + slot;
    const lock: HostLock | null = await tryHostLock(join(folder, String(uid)));
    if (lock !== null) return { user: { uid, gid: uid }, release: () => lock.release() };
  }
  throw new Error(`all ${slots} users for jobs are taken on this host`);
}
