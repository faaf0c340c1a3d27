import { readFileSync } from 'node:fs';

/**
 * Identify a process beyond its id, which the system reuses: id, start time and boot. Without the latter two (not on
 * Linux) it is the id alone.
 */
export function processIdentity(pid: number): string {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Field 22, counted from after the program's name, which may itself hold spaces and brackets.
    const started = status.slice(status.lastIndexOf(')') + 2).split(' ')[19] ?? '';
    return `${pid}-${started}-${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim().slice(0, 8)}`;
  } catch {
    return String(pid);
  }
}

/** Whether the process of that identity still runs. */
export function isRunning(identity: string): boolean {
  const pid = Number(/^[0-9]{1,10}/.exec(identity)?.[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  return processIdentity(pid) === identity;
}
