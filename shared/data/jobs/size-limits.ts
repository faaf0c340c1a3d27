import * as z from 'zod';

/** What keeps a job to the size that it asked for. */
export const SizeLimits = z.object({
  /** `enforced` by its container; `watched`: its processes are added up, and ended where they take more. */
  memory: z.enum(['enforced', 'watched']),
  /** `enforced` by its container; `reserved`: it may take more while others leave it; `not enforced` at all. */
  vcpus: z.enum(['enforced', 'reserved', 'not enforced']),
});
export type SizeLimits = z.infer<typeof SizeLimits>;

interface Host {
  /** Whether jobs are processes of this machine; else they are containers. */
  asProcess: boolean;
  /** Whether it runs on nodes, whose containers share the processors. */
  isOnNodes: boolean;
}

/** What keeps a job on this host to its size. */
export function sizeLimits({ asProcess, isOnNodes }: Host): SizeLimits {
  if (asProcess) return { memory: 'watched', vcpus: 'not enforced' };
  return { memory: 'enforced', vcpus: isOnNodes ? 'reserved' : 'enforced' };
}
