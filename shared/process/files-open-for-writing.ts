import type { CommandUser } from '../host/host.ts';
import { thisHost } from '../host/this-host.ts';
import { findProcesses, type ProcessSelector } from './process-tree.ts';

/**
 * Return the inode numbers of the files that the selected processes can write to.
 * @param user owner of the processes, if it is not the user of this process
 * @returns undefined if the host cannot tell, or without a running process
 */
export async function filesOpenForWriting(
  selector: ProcessSelector,
  user: CommandUser | undefined,
): Promise<ReadonlySet<bigint> | undefined> {
  const pids = (await findProcesses(selector)).map(({ pid }) => pid);
  return pids.length === 0 ? undefined : await thisHost.openForWriting(pids, user);
}
