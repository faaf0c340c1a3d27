import { readProcFile } from './read-proc-file.ts';

/** Return the instruction sets of the processor: `flags` on x64, `Features` on Arm. */
export function processorFlags(): ReadonlySet<string> {
  const text = readProcFile('/proc/cpuinfo') ?? '';
  return new Set((/^(?:flags|Features)\s*:\s*(.*)$/m.exec(text)?.[1] ?? '').split(/\s+/));
}
