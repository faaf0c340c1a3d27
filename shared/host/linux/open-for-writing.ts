import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { hasCode } from '../has-code.ts';
import type { CommandUser } from '../host.ts';

/**
 * Return the inode numbers of the files that processes can write to. Omits the device, because a mapping on an
 * overlay file system has another device than `stat` reports.
 * @param user owner of the processes, if it is not the user of this process
 * @returns undefined if they may not be read
 */
export async function openForWriting(
  pids: readonly number[],
  user: CommandUser | undefined,
): Promise<ReadonlySet<bigint> | undefined> {
  const found = new Set<bigint>();
  try {
    for (const pid of pids) {
      ignoreGone(() => addDescriptors(pid, found));
      ignoreGone(() => addMappings(readFileSync(`/proc/${pid}/maps`, 'utf8'), found));
    }
    return found;
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM')) throw error;
    return user === undefined ? undefined : askAsUser(pids, user);
  }
}

/** Read from a process or descriptor. Ignores that it has ended or was closed. */
function ignoreGone(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ESRCH')) throw error;
  }
}

const accessMode = 0o3;

const readOnly = 0o0;

/** Add the inodes of the regular files that a process has open for writing. */
function addDescriptors(pid: number, found: Set<bigint>): void {
  for (const descriptor of readdirSync(`/proc/${pid}/fd`)) {
    ignoreGone(() => {
      const info = readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, 'utf8');
      const flags = Number.parseInt(/^flags:\s+([0-7]+)$/m.exec(info)?.[1] ?? '0', 8);
      if ((flags & accessMode) === readOnly) return;
      const file = statSync(`/proc/${pid}/fd/${descriptor}`, { bigint: true });
      if (file.isFile()) found.add(file.ino);
    });
  }
}

/** A shared and writable mapping of a file, in a line of `/proc/<pid>/maps`; not one of shared memory. */
const writableMapping = /^\S+ .w.s \S+ \S+ (\d+) +(?!\/dev\/|\/memfd:|\/SYSV)\//gm;

/** Add the inodes of files that are mapped for writing. A mapping needs no descriptor. */
function addMappings(maps: string, found: Set<bigint>): void {
  for (const [, inode = '0'] of maps.matchAll(writableMapping)) found.add(BigInt(inode));
}

/**
 * Shell script that reads the same data with system programs. `-perm -200`: the link of a descriptor for writing
 * has the write bit.
 */
const readAsUser = `for pid; do
  find "/proc/$pid/fd" -perm -200 -exec stat -Lc 'fd %i %F' {} +
  cat "/proc/$pid/maps"
done 2>/dev/null; echo end`;

const readLimits = { timeout: 10_000, maxBuffer: 64 * 1024 * 1024, killSignal: 'SIGKILL' } as const;

const openFile = /^fd (\d+) regular( empty)? file$/gm;

/**
 * Read as the user of the processes, because in a container root may lack permission to inspect processes of other
 * users. The user could falsify the result, but would lose only their own files.
 */
async function askAsUser(
  pids: readonly number[],
  { uid, gid }: CommandUser,
): Promise<Set<bigint> | undefined> {
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C' };
  try {
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', readAsUser, 'sh', ...pids.map(String)], {
      ...readLimits,
      env,
      cwd: '/',
      uid,
      gid,
    });
    if (!stdout.endsWith('end\n')) return undefined;
    const found = new Set<bigint>();
    for (const [, inode = '0'] of stdout.matchAll(openFile)) found.add(BigInt(inode));
    addMappings(stdout, found);
    return found;
  } catch {
    return undefined;
  }
}
