import { hourlyCost } from '../../../shared/jobs/cost.ts';
import type { DeploymentOptions } from '../options/deployment-options.ts';
import { type IdleItem, idleCost } from './idle.ts';
import type { MeasuredRequest } from './measure.ts';
import { computePrices, prices, pricesAsOf, shippingPrices } from './price-list.ts';

/** Report the cost of 1,000 requests of each endpoint, beyond the free allowances. */
export function requestReport(measured: readonly MeasuredRequest[]): string {
  const rows = measured.map((request) => {
    const { duration, lambda, api, dynamoDb, total } = requestCost(request);
    const { reads, writes } = request.units;
    const refused = request.status >= 400 ? ` (${request.status})` : '';
    const units = [number(reads, 1), number(writes, 1)];
    return [
      `${request.name}${refused}`,
      ...units,
      number(duration, 0),
      ...[lambda, dynamoDb, api, total].map((cost) => number(cost, 4)),
    ];
  });
  return `${table(['1,000 requests', 'reads', 'writes', 'ms', 'Lambda', 'DynamoDB', 'API', 'US$'], rows)}
Reads and writes are DynamoDB units of one request, measured on the local emulator. Milliseconds were measured
on this machine and scaled to the function's share of a processor. An operation with a status in brackets was
refused in the measurement.`;
}

/** Memory in MiB at which a function has one full vCPU. */
const wholeProcessor = 1769;

/** Assumed network milliseconds per request of a function to DynamoDB, which is local in the measurement. */
const networkMilliseconds = 5;

/**
 * Return the cost of 1,000 requests beyond all free allowances. A function has a share of a vCPU, and pays for its
 * whole duration.
 */
export function requestCost({ milliseconds, units, memoryMiB }: MeasuredRequest): RequestCost {
  const duration = Math.ceil(
    milliseconds / Math.min(1, memoryMiB / wholeProcessor) + 3 * networkMilliseconds,
  );
  const thousand = 1000;
  const lambda =
    thousand * (prices.lambda.request + (duration / 1000) * (memoryMiB / 1024) * prices.lambda.gibSecond);
  const api = thousand * prices.api.request;
  const dynamoDb =
    thousand * (units.reads * prices.dynamoDb.readUnit + units.writes * prices.dynamoDb.writeUnit);
  return { duration, lambda, api, dynamoDb, total: lambda + api + dynamoDb };
}

/** US dollars for 1,000 requests. */
interface RequestCost {
  /** Estimated milliseconds in Lambda. */
  duration: number;
  lambda: number;
  api: number;
  dynamoDb: number;
  total: number;
}

/** Format a number with so many digits after the point. */
export const number = (value: number, digits: number): string =>
  Number.isFinite(value)
    ? value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
    : 'all';

/** Format a text table. The first column is left-aligned, the others right-aligned. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(head), ...rows.map(line)].join('\n');
}

/** Report the monthly cost of an idle deployment. */
export function idleReport(items: readonly IdleItem[]): string {
  const rows = items.map((item) => [
    item.what,
    number(item.used, item.used < 10 && item.used % 1 !== 0 ? 3 : 0),
    item.unit,
    number(item.free, 0),
    number(idleCost(item), 4),
  ]);
  const total = items.reduce((sum, item) => sum + idleCost(item), 0);
  return `${table(['a month, idle', 'used', '', 'always free', 'US$'], rows)}
Idle cost a month: US$ ${total.toFixed(2)}

Stored data per GB and month: DynamoDB ${prices.dynamoDb.gbMonth} beyond 25 GB, S3 ${prices.s3.gbMonth}, images
of earlier deployments in ECR ${prices.ecr.gbMonth}, logs ${prices.logs.gbMonth} beyond 5 GB; pointInTimeRecovery, the default, ${prices.dynamoDb.recoveryGbMonth} a GB of DynamoDB more.`;
}

/** Report the cost of an hour of training, by queue. */
export function trainingReport(options: DeploymentOptions): string {
  const compute = computePrices(options);
  const shipping = shippingPrices();
  const sizes = [
    [1, 2048],
    [4, 8192],
    [16, 32_768],
  ] as const;
  const container = sizes.map(([vcpus, memory]) => [
    'train (Fargate)',
    `${vcpus} vCPU, ${memory / 1024} GiB`,
    number(hourlyCost(compute, { isOnNodes: false, vcpus, memory, gpus: 0, nodes: 1 }) ?? 0, 4),
  ]);
  const nodes = compute.nodes.map(({ vcpus, memory, gpus, price }) => [
    gpus > 0 ? 'train with gpus, or train-remote, each node (EC2)' : 'train-remote, each node (EC2)',
    `${vcpus} vCPU, ${memory / 1024} GiB${gpus > 0 ? `, ${gpus} GPU` : ''}`,
    number(price, 4),
  ]);
  return `${table(['an hour of training', 'size', 'US$'], [...container, ...nodes])}
Includes the disk, the public address, and DynamoDB units for a continuous log and metrics: US$
${number(shipping.unwatched, 4)} per hour, up to US$ ${number(shipping.watched, 4)} while a user follows them. Spot is cheaper.`;
}

export const pricesNote = `Prices of ${pricesAsOf.region} without tax: Fargate and instances with GPUs as of ${pricesAsOf.date}, all others
as of ${pricesAsOf.others}. The pricing page of each service is authoritative.`;
