import type { Host } from '../host.ts';
import { isAlive } from '../is-alive.ts';
import { boundToParent } from './bound-to-parent.ts';
import { containerUse } from './container-use.ts';
import { closeInheritedDescriptors } from './inherited-descriptors.ts';
import {
  childrenOf,
  forgetPeak,
  proportionalBytes,
  residentBytes,
  residentMemory,
  withMemoryLimit,
} from './memory.ts';
import { networkBytes } from './network-bytes.ts';
import { networkNamespaces } from './network-namespaces.ts';
import { openForWriting } from './open-for-writing.ts';
import { kernelOomKills, offerSupervisorToOomKiller, offerToOomKiller } from './out-of-memory.ts';
import { launchAs } from './privileges.ts';
import { listProcesses, processIdentity, readProcess, withMarker } from './process-table.ts';
import { processorFlags } from './processor-flags.ts';
import { canSandbox } from './sandbox.ts';

/** Linux with `/proc`. Namespaces and util-linux are used if the system has them. */
export const linuxHost: Host = {
  name: 'linux',
  variables: {},
  limitations: async (hasOpenTables) => [
    ...(hasOpenTables ? [openTables] : []),
    ...(canSandbox() ? [] : [noSandboxes()]),
  ],

  listProcesses: async () => listProcesses(),
  readProcess: async (pid) => readProcess(pid),
  withMarker: async (candidates, marker) => withMarker(candidates, marker),
  isSameStart: (one, other) => one === other,
  isUnchanged: ({ pid, startTime }) => readProcess(pid)?.startTime === startTime,
  identityOf: async (pid) => processIdentity(pid),
  isRunning: async (identity) => {
    const pid = Number.parseInt(identity, 10);
    if (!isAlive(pid)) return false;
    // An identity of the portable host has no boot id; compare only its pid.
    return identity.split('-').length !== 3 || processIdentity(pid) === identity;
  },

  canWatchMemory: async () => true,
  // A process can allocate a gigabyte in a second.
  memoryMilliseconds: 50,
  residentBytes: async (pids) => sum(pids.map(residentBytes)),
  proportionalBytes: async (pids) => sum(pids.map((pid) => proportionalBytes(pid) ?? residentBytes(pid))),
  async memoryWithChildren(pid) {
    const own = residentMemory(pid);
    if (own === null) return null;
    const all = [
      own,
      ...childrenOf(pid)
        .map(residentMemory)
        .filter((memory) => memory !== null),
    ];
    return { now: sum(all.map(({ now }) => now)), peak: Math.max(...all.map(({ peak }) => peak)) };
  },
  // `maxRSS` may include the peak of the parent process.
  peakBytes: async () => residentMemory('self')?.peak ?? process.resourceUsage().maxRSS * 1024,
  forgetPeak,

  containerUse,
  networkBytes,

  withMemoryLimit,
  offerToOomKiller,
  offerSupervisorToOomKiller,
  kernelOomKills,

  openForWriting,
  closeInheritedDescriptors,
  pathOf: (descriptor) => `/proc/self/fd/${descriptor}`,

  canSandbox,
  launchAs,
  boundToParent,
  // The kernel ends the emulators (`boundToParent`). The next start finds jobs by their marker.
  endWithThisProcess: () => () => {},
  networkNamespaces,

  processorFlags,
};

const sum = (bytes: readonly (number | undefined)[]): number =>
  bytes.reduce<number>((total, one) => total + (one ?? 0), 0);

const openTables =
  'This system refuses network namespaces (`unshare -n`, `ip`), so every program on this machine that finds the port of the embedded DynamoDB emulator can read and change all records, including passwords.';

const noSandboxes = (): string =>
  process.getuid?.() === 0
    ? 'This system refuses namespaces (`unshare -m -p -i`), so jobs can see other processes and share /tmp, /dev/shm and System V memory with them.'
    : 'This system refuses user namespaces (`unshare -r -m -p -i`), so every training can read the data of this service, including passwords, and end its processes.';
