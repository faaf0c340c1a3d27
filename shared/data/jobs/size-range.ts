/** Minimum and maximum size of a job of any kind: vCPUs, MiB, GPUs, nodes and seconds. */
export const sizeRange = {
  vcpus: [0.25, 192],
  memory: [512, 2_097_152],
  gpus: [0, 8],
  nodes: [1, 64],
  timeout: [1, 14 * 24 * 60 * 60],
} as const satisfies Record<string, readonly [least: number, most: number]>;
