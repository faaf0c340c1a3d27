import type { NetworkBytes } from '../host.ts';
import { readProcFile } from './read-proc-file.ts';

/** Return the bytes of all interfaces but the loopback, as the kernel counts them in this network namespace. */
export function networkBytes(text = readProcFile('/proc/self/net/dev')): NetworkBytes | undefined {
  if (text === null) return undefined;
  const bytes = { received: 0, sent: 0 };
  for (const line of text.split('\n')) {
    const [name, counts] = line.split(':');
    if (counts === undefined || name?.trim() === 'lo') continue;
    const numbers = counts.trim().split(/\s+/).map(Number);
    bytes.received += numbers[0] ?? 0;
    bytes.sent += numbers[8] ?? 0;
  }
  return bytes;
}
