/** Sizes that Fargate offers: for each number of vCPUs, the memory in MiB (`from`, `to`, `step`). */
export const fargateSizes: readonly { vcpus: number; from: number; to: number; step: number }[] = [
  { vcpus: 0.25, from: 512, to: 2048, step: 512 },
  { vcpus: 0.5, from: 1024, to: 4096, step: 1024 },
  { vcpus: 1, from: 2048, to: 8192, step: 1024 },
  { vcpus: 2, from: 4096, to: 16_384, step: 1024 },
  { vcpus: 4, from: 8192, to: 30_720, step: 1024 },
  { vcpus: 8, from: 16_384, to: 61_440, step: 4096 },
  { vcpus: 16, from: 32_768, to: 122_880, step: 8192 },
];

/** Whether Fargate offers this size; memory in MiB. */
export const isFargateSize = (size: { vcpus: number; memory: number }): boolean =>
  fargateSizes.some(
    ({ vcpus, from, to, step }) =>
      vcpus === size.vcpus && size.memory >= from && size.memory <= to && (size.memory - from) % step === 0,
  );
