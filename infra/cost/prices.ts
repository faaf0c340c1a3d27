import type { Prices } from '../../shared/endpoint/prices.ts';
import type { DeploymentOptions } from '../options.ts';

/**
 * When these prices were last compared with published ones, and for which region. Compared in 2026, with pages of March
 * to June of that year that quote AWS: Fargate with its disk, and g5.xlarge. Lambda, API Gateway and the units of
 * DynamoDB agree with pages of 2025 or without a date. The others are those of 2025-06-01; each service's pricing page
 * has the word.
 */
export const pricesAsOf = { date: '2026-06-17', others: '2025-06-01', region: 'us-east-1' } as const;

/** US dollars. */
export const prices = {
  lambda: { gibSecond: 0.0000133334, request: 0.2 / 1e6 },
  api: { request: 3.5 / 1e6 },
  dynamoDb: { readUnit: 0.125 / 1e6, writeUnit: 0.625 / 1e6, gbMonth: 0.25, recoveryGbMonth: 0.2 },
  s3: { gbMonth: 0.023 },
  ecr: { gbMonth: 0.1 },
  logs: { gbIngested: 0.5, gbMonth: 0.03 },
  fargate: { vcpuHour: 0.04048, gibHour: 0.004445, diskGbHour: 0.000111 },
  address: { hour: 0.005 },
  disk: { gbMonth: 0.08 },
  alarm: { month: 0.1 },
} as const;

/** What of Fargate's disk is free. */
const freeDiskGiB = 20;
const hoursOfMonth = 730;

/** On-demand EC2 instances: vCPUs, MiB, GPUs and US dollars an hour. */
const instances: Readonly<Record<string, Prices['nodes'][number]>> = {
  'm6i.large': { vcpus: 2, memory: 8_192, gpus: 0, price: 0.096 },
  'm6i.xlarge': { vcpus: 4, memory: 16_384, gpus: 0, price: 0.192 },
  'm6i.2xlarge': { vcpus: 8, memory: 32_768, gpus: 0, price: 0.384 },
  'm6i.4xlarge': { vcpus: 16, memory: 65_536, gpus: 0, price: 0.768 },
  'm6i.8xlarge': { vcpus: 32, memory: 131_072, gpus: 0, price: 1.536 },
  'c6i.xlarge': { vcpus: 4, memory: 8_192, gpus: 0, price: 0.17 },
  'c6i.2xlarge': { vcpus: 8, memory: 16_384, gpus: 0, price: 0.34 },
  'c6i.4xlarge': { vcpus: 16, memory: 32_768, gpus: 0, price: 0.68 },
  'r6i.xlarge': { vcpus: 4, memory: 32_768, gpus: 0, price: 0.252 },
  'r6i.2xlarge': { vcpus: 8, memory: 65_536, gpus: 0, price: 0.504 },
  'g4dn.xlarge': { vcpus: 4, memory: 16_384, gpus: 1, price: 0.526 },
  'g4dn.2xlarge': { vcpus: 8, memory: 32_768, gpus: 1, price: 0.752 },
  'g4dn.12xlarge': { vcpus: 48, memory: 196_608, gpus: 4, price: 3.912 },
  'g5.xlarge': { vcpus: 4, memory: 16_384, gpus: 1, price: 1.006 },
  'g5.2xlarge': { vcpus: 8, memory: 32_768, gpus: 1, price: 1.212 },
  'g5.12xlarge': { vcpus: 48, memory: 196_608, gpus: 4, price: 5.672 },
  'p3.2xlarge': { vcpus: 8, memory: 62_464, gpus: 1, price: 3.06 },
};

/**
 * What compute costs in a deployment, for the estimates of its trainings: the on-demand price, which Spot stays below.
 * Instance types without a price here have none in the estimates.
 */
export function computePrices(
  options: Pick<DeploymentOptions, 'clusterInstanceTypes' | 'gpuInstanceTypes' | 'jobDiskGiB'>,
): Prices {
  const { clusterInstanceTypes, gpuInstanceTypes, jobDiskGiB } = options;
  const { vcpuHour, gibHour, diskGbHour } = prices.fargate;
  const besides = prices.address.hour + (jobDiskGiB * prices.disk.gbMonth) / hoursOfMonth;
  const round = (amount: number) => Math.round(amount * 1e6) / 1e6;
  return {
    fargate: {
      base: round(prices.address.hour + Math.max(0, jobDiskGiB - freeDiskGiB) * diskGbHour),
      vcpu: vcpuHour,
      gib: gibHour,
    },
    nodes: [...clusterInstanceTypes, ...gpuInstanceTypes].flatMap((type) => {
      const instance = instances[type];
      return instance === undefined ? [] : [{ ...instance, price: round(instance.price + besides) }];
    }),
  };
}
