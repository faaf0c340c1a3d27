/** Fargate sizes: vCPUs, and the range of memory in MiB (`from`, `to`, `step`). */
export const fargateSizes: readonly { vcpus: number; from: number; to: number; step: number }[] = [
  { vcpus: 0.25, from: 512, to: 2048, step: 512 },
  { vcpus: 0.5, from: 1024, to: 4096, step: 1024 },
  { vcpus: 1, from: 2048, to: 8192, step: 1024 },
  { vcpus: 2, from: 4096, to: 16_384, step: 1024 },
  { vcpus: 4, from: 8192, to: 30_720, step: 1024 },
  { vcpus: 8, from: 16_384, to: 61_440, step: 4096 },
  { vcpus: 16, from: 32_768, to: 122_880, step: 8192 },
];

/**
 * Return the smallest memory in MiB, at least as large as this one, that Fargate offers; undefined if it offers none.
 *
 * @param vcpus undefined for any number of them
 * @example offeredMemory(6000, undefined) // 6144
 */
export function offeredMemory(memory: number, vcpus: number | undefined): number | undefined {
  const fitting = fargateSizes.flatMap((offer) => {
    if (vcpus !== undefined && offer.vcpus !== vcpus) return [];
    const steps = Math.max(0, Math.ceil((memory - offer.from) / offer.step));
    const offered = offer.from + steps * offer.step;
    return offered <= offer.to ? [offered] : [];
  });
  return fitting.length === 0 ? undefined : Math.min(...fitting);
}

/** Whether Fargate offers this size; memory in MiB. */
export const isFargateSize = ({ vcpus, memory }: { vcpus: number; memory: number }): boolean =>
  offeredMemory(memory, vcpus) === memory;

/**
 * Return what a request for a size that Fargate does not offer gets wrong, and what is allowed; undefined for an offered
 * size, also for one that is not complete.
 */
export function fargateFault({
  vcpus,
  memory,
}: {
  vcpus?: number | undefined;
  memory?: number | undefined;
}): { name: 'vcpus' | 'memory'; message: string } | undefined {
  const offers = vcpus === undefined ? fargateSizes : fargateSizes.filter((offer) => offer.vcpus === vcpus);
  if (offers.length === 0)
    return {
      name: 'vcpus',
      message: `must be one of ${fargateSizes.map((offer) => offer.vcpus).join(', ')}`,
    };
  if (memory === undefined || offeredMemory(memory, vcpus) === memory) return undefined;
  const offered = offers.map(
    ({ vcpus, from, to, step }) => `${from} to ${to} in steps of ${step} with ${vcpus} vCPU`,
  );
  return { name: 'memory', message: `must be ${offered.join('; or ')}` };
}
