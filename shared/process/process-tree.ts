import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EnvironmentMarker, ProcessInfo } from '../host/host.ts';
import { thisHost } from '../host/this-host.ts';

/**
 * Selects processes. Each criterion adds processes with all their descendants. User code can leave its parent,
 * group and session, and can start programs without the marker, but it cannot change its uid. Set `uid` if the
 * command has its own user.
 */
export interface ProcessSelector {
  /** A pid: that process and its descendants. */
  root?: number;
  group?: number;
  session?: number;
  /** A user that runs nothing else. The user of this process is refused. */
  uid?: number;
  /** An environment variable that the program was started with. */
  marker?: EnvironmentMarker;
}

/** Processes that SIGKILL did not end in time: stuck in the kernel, or forking faster than they are killed. */
export class ProcessesRemainError extends Error {
  override readonly name = 'ProcessesRemainError';
  readonly pids: readonly number[];

  constructor(pids: readonly number[]) {
    super(`${pids.length} processes could not be ended: ${pids.slice(0, 20).join(', ')}`);
    this.pids = pids;
  }
}

/**
 * Find the running processes that match any criterion, and their descendants. Never includes this process, its
 * ancestors or zombies.
 * @throws RangeError for a criterion that would match far more than one command's processes
 */
export async function findProcesses(selector: ProcessSelector): Promise<ProcessInfo[]> {
  return (await select(selector)).found;
}

/**
 * @param passed start times of processes that no listing has chosen so far, which this one adds to. Their user and
 *   marker are not read again: reading them takes four times as long as the listing.
 */
async function select(
  selector: ProcessSelector,
  passed: Map<number, string> = new Map(),
): Promise<{ found: ProcessInfo[]; sparedGroups: Set<number> }> {
  checkSelector(selector);
  const { root, group, session, uid, marker } = selector;
  const leaders = [root, group, session].flatMap((pid) => (pid === process.pid ? [] : (pid ?? [])));
  const all = await thisHost.listProcesses([...new Set(leaders)]);
  const spared = ancestry(process.pid, all);
  const isNew = ({ pid, startTime }: ProcessInfo) => passed.get(pid) !== startTime;
  const chosen = new Set(
    all.filter(
      (row) =>
        row.pid === root ||
        row.group === group ||
        row.session === session ||
        (uid !== undefined && isNew(row) && row.uid === uid),
    ),
  );
  if (marker !== undefined) {
    const rest = all.filter((row) => !chosen.has(row) && !spared.has(row.pid) && isNew(row));
    for (const row of await thisHost.withMarker(rest, marker)) chosen.add(row);
  }
  // If the root is this process, it selects only its descendants. Other matches never include this process.
  for (const row of chosen) if (spared.has(row.pid) && row.pid !== root) chosen.delete(row);
  addDescendants(chosen, all);
  for (const row of all) if (!chosen.has(row)) passed.set(row.pid, row.startTime);
  return {
    found: [...chosen].filter((row) => !spared.has(row.pid)),
    sparedGroups: new Set(all.filter((row) => spared.has(row.pid)).map((row) => row.group)),
  };
}

/**
 * Signal every process of the selection except the pid `spared`. Return the number of signalled processes. Skips
 * processes that end during the call and those that this process may not signal.
 */
export async function signalProcesses(
  selector: ProcessSelector,
  signal: NodeJS.Signals,
  spared?: number,
): Promise<number> {
  let signalled = 0;
  for (const found of await findProcesses(selector)) {
    if (found.pid === spared) continue;
    // Skip a pid that was reused since the listing.
    if (!thisHost.isUnchanged(found)) continue;
    if (sendSignal(found.pid, signal)) signalled += 1;
  }
  return signalled;
}

/**
 * Maximum number of listings, which take more than half a minute. The kernel may need seconds to end a process of
 * many gigabytes.
 */
const maxListings = 300;
const maxPauseMilliseconds = 100;
/** A listing is not a snapshot: it can miss a process that forks and exits constantly. */
const emptyListingsNeeded = 3;

/**
 * Send SIGKILL to the selection until no process of it runs. Also signals the group as a whole and, as root, the
 * user. The kernel does that in one step, so no fork escapes.
 * @throws ProcessesRemainError if a process still runs after about half a minute
 */
export async function killTree(selector: ProcessSelector): Promise<void> {
  let empty = 0;
  let remaining: ProcessInfo[] = [];
  const passed = new Map<number, string>();
  for (let listing = 0; listing < maxListings && empty < emptyListingsNeeded; listing += 1) {
    const { found, sparedGroups } = await select(selector, passed);
    const { group, uid } = selector;
    for (const { pid } of found) sendSignal(pid, 'SIGKILL');
    if (group !== undefined && !sparedGroups.has(group)) sendSignal(-group, 'SIGKILL');
    // Also if the listing is empty: it may have missed processes that fork fast.
    if (uid !== undefined && (found.length > 0 || listing === 0)) await killUser(uid);
    empty = found.length === 0 ? empty + 1 : 0;
    remaining = found;
    if (found.length > 0) await sleep(Math.min(2 ** listing, maxPauseMilliseconds));
  }
  if (remaining.length > 0) throw new ProcessesRemainError(remaining.map(({ pid }) => pid));
}

/**
 * Return the start time of a process; null if it does not run. The start time distinguishes it from other
 * processes with the same pid.
 */
export async function processStartTime(pid: number): Promise<string | null> {
  return (await thisHost.readProcess(pid))?.startTime ?? null;
}

function checkSelector({ root, group, session, uid, marker }: ProcessSelector): void {
  for (const [name, id] of Object.entries({ root, group, session })) {
    if (id !== undefined && !(Number.isSafeInteger(id) && id > 1)) throw new RangeError(`no ${name} ${id}`);
  }
  if (uid !== undefined && (!Number.isSafeInteger(uid) || uid <= 0 || uid === process.getuid?.())) {
    throw new RangeError(`uid ${uid} is not a separate user`);
  }
  if (marker !== undefined && (marker.name === '' || marker.value === '')) {
    throw new RangeError('a marker needs a name and a value');
  }
}

function ancestry(pid: number, all: readonly ProcessInfo[]): Set<number> {
  const parents = new Map(all.map((row) => [row.pid, row.ppid]));
  const line = new Set<number>();
  for (let next: number | undefined = pid; next !== undefined && !line.has(next); next = parents.get(next)) {
    line.add(next);
  }
  return line;
}

function addDescendants(chosen: Set<ProcessInfo>, all: readonly ProcessInfo[]): void {
  const children = Map.groupBy(all, (row) => row.ppid);
  // Iterating a set also visits elements added during the iteration, so this reaches every generation.
  for (const row of chosen) for (const child of children.get(row.pid) ?? []) chosen.add(child);
}

function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // ESRCH: it has ended; EPERM: it may not be signalled.
  }
}

async function killUser(uid: number): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const killer = spawn('/bin/sh', ['-c', 'kill -s KILL -- -1'], {
    uid,
    gid: uid,
    env: {},
    cwd: '/',
    timeout: 2_000, // The processes of the user could stop it.
    killSignal: 'SIGKILL',
    stdio: 'ignore',
  });
  await once(killer, 'exit').catch(() => undefined);
}
