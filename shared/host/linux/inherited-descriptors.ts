import { closeSync, readdirSync, readFileSync } from 'node:fs';

/**
 * Close inherited descriptors other than the standard streams, for example files of a terminal or package manager.
 * Then programs started by this process cannot inherit them. Call it first.
 */
export function closeInheritedDescriptors(): void {
  for (const descriptor of readdirSync('/proc/self/fd').map(Number)) {
    if (descriptor > 2 && isInherited(descriptor)) closeSync(descriptor);
  }
}

const closeOnExec = 0o2000000;

/** Whether programs that this process starts inherit a descriptor. Node's own descriptors are not inherited. */
function isInherited(descriptor: number): boolean {
  try {
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    const flags = Number.parseInt(/^flags:\s+([0-7]+)$/m.exec(info)?.[1] ?? '', 8);
    return (flags & closeOnExec) === 0;
  } catch {
    return false;
  }
}
