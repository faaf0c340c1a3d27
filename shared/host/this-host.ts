import { existsSync } from 'node:fs';
import type { Host } from './host.ts';
import { linuxHost } from './linux/linux-host.ts';
import { portableHost } from './portable/portable-host.ts';

/** Variable that chooses the host: `linux` or `portable`. By default the service chooses. */
export const hostVariable = 'MPS_HOST';

const hostNames = ['linux', 'portable'];

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

/** Return why a value of `MPS_HOST` cannot be followed; undefined if it can, or if there is none. */
export function hostFault(asked: string | undefined, isLinux = isLinuxWithProc()): string | undefined {
  if (!asked) return undefined;
  if (!hostNames.includes(asked)) return `${hostVariable} must be ${hostNames.join(' or ')}, not "${asked}".`;
  if (asked === 'portable' || isLinux) return undefined;
  return `${hostVariable}=linux needs Linux with /proc. Leave it out: this system has the portable host.`;
}

/** The host of this process. */
export const thisHost: Host = chooseHost(process.env[hostVariable]);
