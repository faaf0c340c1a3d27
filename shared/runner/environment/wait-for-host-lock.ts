import { setTimeout as delay } from 'node:timers/promises';
import { type HostLock, tryHostLock } from '../../host/host-lock.ts';
import { stopped } from './install/installer.ts';

/** Wait for a lock, with five attempts a second. @throws EnvironmentError `stopped` */
export async function waitForHostLock(
  path: string,
  stop: AbortSignal,
  onWait: () => void,
): Promise<HostLock> {
  for (let waited = 0; ; waited += 1) {
    stopped(stop);
    const lock = await tryHostLock(path);
    if (lock !== null) return lock;
    if (waited === 0) onWait();
    await delay(200, undefined, { signal: stop }).catch(() => stopped(stop));
  }
}
