import { closeSync, readdirSync, readFileSync } from 'node:fs';

const closeOnExec = 0o2000000;

/** Whether programs that this process starts get a descriptor, too. Node's own are none of these. */
function isInherited(descriptor: number): boolean {
  try {
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    const flags = Number.parseInt(/^flags:\s+([0-7]+)$/m.exec(info)?.[1] ?? '', 8);
    return (flags & closeOnExec) === 0;
  } catch {
    return false;
  }
}

/**
 * Closes what this process got from the one that started it besides its standard streams, so that no program that it
 * starts gets it: a terminal's or a package manager's files, say. To be called first of all. Linux alone tells.
 */
export function closeInheritedDescriptors(): void {
  if (process.platform !== 'linux') return;
  for (const descriptor of readdirSync('/proc/self/fd').map(Number)) {
    if (descriptor > 2 && isInherited(descriptor)) closeSync(descriptor);
  }
}
