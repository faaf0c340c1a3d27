import { existsSync } from 'node:fs';
import type { Host } from './host.ts';
import { linuxHost } from './linux/linux-host.ts';
import { portableHost } from './portable/portable-host.ts';

/** Variable that chooses the host: `linux` or `portable`. By default the service chooses. */
export const hostVariable = 'MPS_HOST';

export const hostNames = ['linux', 'portable'] as const;

/**
 * Return the host of a machine: the one that is asked for, else `linux` on Linux if `/proc` is there, else `portable`.
 * An unknown name chooses nothing; the start of the service refuses it.
 */
export function chooseHost(asked: string | undefined, isLinux = isLinuxWithProc()): Host {
  if (asked === 'linux') return linuxHost;
  if (asked === 'portable') return portableHost;
  return isLinux ? linuxHost : portableHost;
}

const isLinuxWithProc = (): boolean => process.platform === 'linux' && existsSync('/proc/self/stat');

/** The host of this process. */
export const thisHost: Host = chooseHost(process.env[hostVariable]);
