import { readdirSync } from 'node:fs';

/** How many GPUs programs of this machine can use: NVIDIA's driver makes a device for each. */
export function countGpus(folder = '/dev'): number {
  try {
    return readdirSync(folder).filter((name) => /^nvidia\d+$/.test(name)).length;
  } catch {
    return 0;
  }
}
