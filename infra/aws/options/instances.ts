const gib = 1024;

const instance = (vcpus: number, memoryGib: number, gpus: number, price: number): Instance => ({
  vcpus,
  memory: memoryGib * gib,
  gpus,
  price,
});

/** Instance types for nodes, with the on-demand prices of `pricesAsOf`. Other types have no estimate. */
export const instances: Readonly<Record<string, Instance>> = {
  'm6i.large': instance(2, 8, 0, 0.096),
  'm6i.xlarge': instance(4, 16, 0, 0.192),
  'm6i.2xlarge': instance(8, 32, 0, 0.384),
  'm6i.4xlarge': instance(16, 64, 0, 0.768),
  'm6i.8xlarge': instance(32, 128, 0, 1.536),
  'c6i.xlarge': instance(4, 8, 0, 0.17),
  'c6i.2xlarge': instance(8, 16, 0, 0.34),
  'c6i.4xlarge': instance(16, 32, 0, 0.68),
  'r6i.xlarge': instance(4, 32, 0, 0.252),
  'r6i.2xlarge': instance(8, 64, 0, 0.504),

  'g4dn.xlarge': instance(4, 16, 1, 0.526),
  'g4dn.2xlarge': instance(8, 32, 1, 0.752),
  'g4dn.4xlarge': instance(16, 64, 1, 1.204),
  'g4dn.8xlarge': instance(32, 128, 1, 2.176),
  'g4dn.16xlarge': instance(64, 256, 1, 4.352),
  'g4dn.12xlarge': instance(48, 192, 4, 3.912),
  'g4dn.metal': instance(96, 384, 8, 7.824),
  'g5.xlarge': instance(4, 16, 1, 1.006),
  'g5.2xlarge': instance(8, 32, 1, 1.212),
  'g5.4xlarge': instance(16, 64, 1, 1.624),
  'g5.8xlarge': instance(32, 128, 1, 2.448),
  'g5.16xlarge': instance(64, 256, 1, 4.096),
  'g5.12xlarge': instance(48, 192, 4, 5.672),
  'g5.24xlarge': instance(96, 384, 4, 8.144),
  'g5.48xlarge': instance(192, 768, 8, 16.288),
  'g6.xlarge': instance(4, 16, 1, 0.8048),
  'g6.2xlarge': instance(8, 32, 1, 0.9776),
  'g6.4xlarge': instance(16, 64, 1, 1.3232),
  'g6.8xlarge': instance(32, 128, 1, 2.0144),
  'g6.16xlarge': instance(64, 256, 1, 3.3968),
  'g6.12xlarge': instance(48, 192, 4, 4.6016),
  'g6.24xlarge': instance(96, 384, 4, 6.6752),
  'g6.48xlarge': instance(192, 768, 8, 13.3504),
  'gr6.4xlarge': instance(16, 128, 1, 1.5392),
  'gr6.8xlarge': instance(32, 256, 1, 2.4464),
  'g6e.xlarge': instance(4, 32, 1, 1.861),
  'g6e.2xlarge': instance(8, 64, 1, 2.24208),
  'g6e.4xlarge': instance(16, 128, 1, 3.00424),
  'g6e.8xlarge': instance(32, 256, 1, 4.52856),
  'g6e.16xlarge': instance(64, 512, 1, 7.57719),
  'g6e.12xlarge': instance(48, 384, 4, 10.49264),
  'g6e.24xlarge': instance(96, 768, 4, 15.06559),
  'g6e.48xlarge': instance(192, 1536, 8, 30.13118),
  'p3.2xlarge': instance(8, 61, 1, 3.06),
  'p3.8xlarge': instance(32, 244, 4, 12.24),
  'p3.16xlarge': instance(64, 488, 8, 24.48),
  'p4d.24xlarge': instance(96, 1152, 8, 21.957642),
  'p4de.24xlarge': instance(96, 1152, 8, 27.44705),
  'p5.4xlarge': instance(16, 256, 1, 6.88),
  'p5.48xlarge': instance(192, 2048, 8, 55.04),
  'p5en.48xlarge': instance(192, 2048, 8, 63.296),
};

/** An EC2 instance type: vCPUs, MiB, GPUs, and the hourly on-demand price in US dollars. */
export interface Instance {
  vcpus: number;
  memory: number;
  gpus: number;
  price: number;
}

/** Return the smallest memory of these types in MiB, or undefined if none of them is listed here. */
export function minMemory(types: readonly string[]): number | undefined {
  const sizes = types.flatMap((type) => instances[type]?.memory ?? []);
  return sizes.length === 0 ? undefined : Math.min(...sizes);
}
