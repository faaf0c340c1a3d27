import type { Prices } from '../../../shared/core/prices.ts';
import { loneBeats, usualHeartbeatSeconds } from '../../../shared/data/jobs/lease.ts';
import { questionPause } from '../../../shared/runner/telemetry/job-watch.ts';
import { shippingPace, stretched } from '../../../shared/runner/telemetry/shipping-pace.ts';
import type { DeploymentOptions } from '../options/deployment-options.ts';
import { instances } from '../options/instances.ts';

/**
 * Return compute prices of a deployment, for the estimates of its trainings: on demand, and the share of them that Spot
 * usually costs. Instance types without a price here have no estimate.
 */
export function computePrices(
  options: Pick<DeploymentOptions, 'clusterInstanceTypes' | 'gpuInstanceTypes' | 'jobDiskGiB'>,
): Prices {
  const { clusterInstanceTypes, gpuInstanceTypes, jobDiskGiB } = options;
  const { vcpuHour, gibHour, diskGbHour } = prices.fargate;
  const shipping = shippingPrices().unwatched;
  const besides = shipping + prices.address.hour + (jobDiskGiB * prices.disk.gbMonth) / hoursOfMonth;
  const round = (amount: number) => Math.round(amount * 1e6) / 1e6;
  return {
    fargate: {
      base: round(shipping + prices.address.hour + Math.max(0, jobDiskGiB - freeDiskGiB) * diskGbHour),
      vcpu: vcpuHour,
      gib: gibHour,
    },
    spot: prices.spot,
    serving: {
      request: prices.lambda.request + prices.api.request + readsOfInference * prices.dynamoDb.readUnit,
      gibSecond: prices.lambda.gibSecondX86,
    },
    nodes: [...clusterInstanceTypes, ...gpuInstanceTypes].flatMap((type) => {
      const instance = instances[type];
      return instance === undefined ? [] : [{ ...instance, price: round(instance.price + besides) }];
    }),
  };
}

/** AWS prices in US dollars. */
export const prices = {
  lambda: { gibSecond: 0.0000133334, gibSecondX86: 0.0000166667, request: 0.2 / 1e6 },
  api: { request: 3.5 / 1e6 },
  dynamoDb: { readUnit: 0.125 / 1e6, writeUnit: 0.625 / 1e6, gbMonth: 0.25, recoveryGbMonth: 0.2 },
  s3: { gbMonth: 0.023 },
  ecr: { gbMonth: 0.1 },
  logs: { gbIngested: 0.5, gbMonth: 0.03 },
  fargate: { vcpuHour: 0.04048, gibHour: 0.004445, diskGbHour: 0.000111 },
  /** Shares of the price on demand. AWS changes them; it saves 50 to 70 percent on Fargate, and less on nodes with GPUs. */
  spot: { fargate: 0.33, nodes: 0.5 },
  address: { hour: 0.005 },
  disk: { gbMonth: 0.08 },
  alarm: { month: 0.1 },
} as const;

/** Reads of a request to a served model: its token with the user, and its configuration. */
const readsOfInference = 3;

const hourMilliseconds = 3_600_000;

/** Write units of one upload of log lines: the lease and a chunk of 1 KB, in a transaction. Points have a summary more. */
const unitsOfShipment = { log: 4, points: 6, both: 8 };

/**
 * Return the hourly cost in US dollars of uploading the log and the metrics of a job that writes both
 * continuously, and its heartbeats.
 */
export function shippingPrices(): { unwatched: number; watched: number } {
  const { readUnit, writeUnit } = prices.dynamoDb;
  const { watchedLog, watchedMetrics, unwatched } = shippingPace;
  const { log, points, both } = unitsOfShipment;
  const shipments = (every: number, units: number) => (hourMilliseconds / every) * units * writeUnit;
  // Most of an hour has the longest pauses.
  const longest = (pause: number) => stretched(pause, hourMilliseconds);
  // A question takes half a unit. An upload counts as a heartbeat; samples of the machine go along with points.
  const questions = (hourMilliseconds / questionPause(hourMilliseconds)) * (readUnit / 2);
  const beatMilliseconds = 1000 * usualHeartbeatSeconds * loneBeats;
  const beatsOfUpload = Math.floor((longest(unwatched) - 1) / beatMilliseconds);
  return {
    unwatched: shipments(longest(unwatched), both + 2 * beatsOfUpload) + questions,
    watched: shipments(watchedLog, log) + shipments(watchedMetrics, points),
  };
}

const hoursOfMonth = 730;

/** Free part of Fargate's ephemeral storage in GiB. */
const freeDiskGiB = 20;

/**
 * Date of the last comparison with published prices, and their region. Compared in 2026, with pages of March to
 * June of that year that quote AWS: Fargate with its storage, and GPU instances. Prices of Lambda, API Gateway and
 * DynamoDB units agree with pages of 2025 or without a date. The others are those of 2025-06-01. The pricing page
 * of each service is authoritative.
 */
export const pricesAsOf = { date: '2026-06-17', others: '2025-06-01', region: 'us-east-1' } as const;
