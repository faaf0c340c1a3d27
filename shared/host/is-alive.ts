import { hasCode } from './has-code.ts';

/** Whether a process or, with a negative number, a group runs. True if it belongs to another user. */
export function isAlive(pid: number): boolean {
  // 0 would mean this process's own group, and -1 every process.
  if (!Number.isSafeInteger(pid) || (pid >= -1 && pid <= 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}
