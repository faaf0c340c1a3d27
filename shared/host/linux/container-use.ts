import { join } from 'node:path';
import type { ContainerUse } from '../host.ts';
import { readProcFile } from './read-proc-file.ts';

/**
 * Return the use of this container's control group, of either version. A container engine mounts it at this folder.
 * @param folder another folder, for tests
 */
export function containerUse(folder = '/sys/fs/cgroup'): ContainerUse | undefined {
  return versionTwo(folder) ?? versionOne(folder);
}

function versionTwo(folder: string): ContainerUse | undefined {
  const [cpu, memory] = [read(folder, 'cpu.stat'), read(folder, 'memory.current')];
  if (cpu === null || memory === null) return undefined;
  const cache = fieldOf(read(folder, 'memory.stat'), 'inactive_file');
  return { cpuSeconds: fieldOf(cpu, 'usage_usec') / 1e6, memoryBytes: Number(memory) - cache };
}

function versionOne(folder: string): ContainerUse | undefined {
  const [cpu, memory] = [read(folder, 'cpuacct/cpuacct.usage'), read(folder, 'memory/memory.usage_in_bytes')];
  if (cpu === null || memory === null) return undefined;
  const cache = fieldOf(read(folder, 'memory/memory.stat'), 'total_inactive_file');
  return { cpuSeconds: Number(cpu) / 1e9, memoryBytes: Number(memory) - cache };
}

const read = (folder: string, name: string): string | null => readProcFile(join(folder, name));

const fieldOf = (text: string | null, name: string): number =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text ?? '')?.[1] ?? 0);
