import type { Host, ProcessInfo } from '../host.ts';
import { isAlive } from '../is-alive.ts';
import { platform, translationFault } from '../platform.ts';
import { listByPs, startSeconds } from './ps.ts';
import { startSentinel } from './sentinel.ts';

/**
 * Any POSIX system: `ps` lists processes, signals go to process groups, and a sentinel ends a group when its
 * supervisor dies. Without a usable `ps`, process groups alone are known.
 */
export const portableHost: Host = {
  name: 'portable',
  variables: { MPS_HOST: 'portable' },
  async limitations(hasOpenTables) {
    const fault = await psFault();
    const translated = translationFault();
    const jobs =
      process.getuid?.() === 0
        ? 'jobs see the processes of others and share /tmp and shared memory with them'
        : 'every training can read the data of this service, passwords included, and end its processes';
    const memory =
      fault === undefined
        ? 'The memory of jobs is summed by ps twice a second and not limited by the kernel'
        : `The memory of jobs is not limited, because ps does not list processes (${fault})`;
    return [
      `On this host (portable, ${platform}) trainings are not separated from the service: ${jobs}${hasOpenTables ? openTables : ''}.`,
      `${memory}, and a program that leaves its process group and its parent outlives its job.`,
      ...(translated === undefined ? [] : [translated]),
    ];
  },

  listProcesses: async (known = []) => await listByPs().catch(() => known.flatMap(wholeGroup)),
  async readProcess(pid) {
    try {
      return (await listByPs()).find((row) => row.pid === pid) ?? null;
    } catch {
      return isAlive(pid) ? { ...unknownProcess, pid, group: pid } : null;
    }
  },
  // Not every `ps` shows environments. Sentinels end what a killed supervisor leaves.
  withMarker: async () => [],
  isSameStart: isSameTime,
  // A listing takes as long as a look at one process.
  isUnchanged: () => true,
  async identityOf(pid) {
    const start = await startOf(pid);
    return Number.isNaN(start) ? String(pid) : `${pid}-${start}`;
  },
  async isRunning(identity) {
    const [pid = Number.NaN, start = Number.NaN, ...boot] = identity.split('-').map(Number);
    if (!isAlive(pid)) return false;
    // An identity of the Linux host has ticks since the boot and a boot id; compare only its pid.
    if (boot.length > 0) return true;
    const present = await startOf(pid);
    return Number.isNaN(start) || Number.isNaN(present) || Math.abs(present - start) <= toleranceSeconds;
  },

  canWatchMemory: async () => (await psFault()) === undefined,
  memoryMilliseconds: 500,
  residentBytes,
  proportionalBytes: residentBytes,
  async memoryWithChildren(pid) {
    const all = await listByPs().catch(() => []);
    const rows = all.filter((row) => row.pid === pid || row.ppid === pid);
    if (!rows.some((row) => row.pid === pid)) return null;
    const now = rows.reduce((sum, one) => sum + one.residentBytes, 0);
    return { now, peak: now };
  },
  peakBytes: async () => process.resourceUsage().maxRSS * 1024,
  forgetPeak: () => {},

  containerUse: () => undefined,
  networkBytes: () => undefined,

  withMemoryLimit: async (command) => command,
  offerToOomKiller: () => {},
  offerSupervisorToOomKiller: () => {},
  kernelOomKills: () => 0,

  openForWriting: async () => undefined,
  closeInheritedDescriptors: () => {},
  pathOf: (_descriptor, path) => path,

  canSandbox: () => false,
  async launchAs({ user, program, args, env }) {
    const ids = user === undefined ? {} : { uid: user.uid, gid: user.gid };
    return { file: program, args, options: { env: { ...env }, ...ids }, isWaiter: false };
  },
  boundToParent: (file, args) => ({ file, args: [...args] }),
  endWithThisProcess: startSentinel,
  networkNamespaces: async () => undefined,

  processorFlags: () => new Set(),
};

const openTables =
  ', and every program on this machine that finds the port of the embedded DynamoDB emulator can read and change all records';

/** Return why `ps` cannot be used; undefined if it can. */
async function psFault(): Promise<string | undefined> {
  try {
    await listByPs();
    return undefined;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return text.trim().split('\n').at(-1)?.slice(0, 120);
  }
}

const unknownProcess: ProcessInfo = {
  pid: 0,
  ppid: 0,
  group: 0,
  session: 0,
  uid: Number.NaN,
  startTime: 'unknown',
  residentBytes: 0,
  cpuSeconds: 0,
  isNamespaceInit: false,
};

/** What signals tell about the group that a process leads: a row for the group, or for the process alone. */
function wholeGroup(leader: number): ProcessInfo[] {
  if (isAlive(-leader)) return [{ ...unknownProcess, pid: -leader, group: leader }];
  return isAlive(leader) ? [{ ...unknownProcess, pid: leader }] : [];
}

/** Linux computes start times from the time since the boot, so they differ by a second now and then. */
const toleranceSeconds = 2;

function isSameTime(one: string, other: string): boolean {
  return Math.abs(startSeconds(one) - startSeconds(other)) <= toleranceSeconds;
}

/** Start of a process in seconds since 1970; NaN if it is not known. */
async function startOf(pid: number): Promise<number> {
  const rows = await listByPs().catch(() => []);
  return startSeconds(rows.find((row) => row.pid === pid)?.startTime ?? '');
}

async function residentBytes(pids: readonly number[]): Promise<number> {
  const wanted = new Set(pids);
  const rows = await listByPs().catch(() => []);
  return rows.reduce((sum, row) => sum + (wanted.has(row.pid) ? row.residentBytes : 0), 0);
}
