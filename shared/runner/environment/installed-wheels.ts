import * as z from 'zod';
import { normalName } from './dependencies/python-requirements.ts';
import type { RelayedFile } from './downloads/index-relay.ts';

export const Wheel = z.strictObject({ name: z.string(), version: z.string(), sha256: z.string() });
/** A wheel of a package index. */
export type Wheel = z.infer<typeof Wheel>;

/**
 * Return the wheels of an environment; null if it has a package that was built from source or did not come through
 * the relay. Building runs code of packages; installing a wheel does not.
 *
 * @param lock the list of installed packages from `pythonLock`
 * @param files all files that the installer received from the relay
 */
export function installedWheels(lock: string, files: readonly RelayedFile[]): Wheel[] | null {
  const handed = new Map<string, Wheel>();
  for (const file of files) {
    const wheel = wheelOf(file);
    if (wheel === null) return null;
    const line = `${wheel.name}==${wheel.version}`;
    const other = handed.get(line);
    if (other !== undefined && other.sha256 !== wheel.sha256) return null;
    handed.set(line, wheel);
  }
  const wheels: Wheel[] = [];
  for (const line of lock.split('\n').filter((text) => text !== '')) {
    const wheel = handed.get(line);
    if (wheel !== undefined) wheels.push(wheel);
    else if (!isBundled(line.split('==', 1)[0] ?? '')) return null;
  }
  return wheels;
}

const wheelName = /^([^-]+)-([^-]+)(?:-\d[^-]*)?-[^-]+-[^-]+-[^-]+\.whl$/;

function wheelOf({ filename, sha256 }: RelayedFile): Wheel | null {
  const [, name, version] = wheelName.exec(filename) ?? [];
  if (name === undefined || version === undefined || sha256 === undefined) return null;
  return { name: normalName(name), version: decodeURIComponent(version), sha256 };
}

/** Packages of an empty virtual environment. */
const bundled: ReadonlySet<string> = new Set(['pip', 'setuptools', 'wheel']);

/** Whether a package can come with the virtual environment itself. */
export const isBundled = (name: string): boolean => bundled.has(name);
