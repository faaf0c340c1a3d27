import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from 'tar';
import type { Template } from '../build/templates.ts';
import { prepareImageContext } from '../job-image/context.ts';
import { prices } from './price-list.ts';

/**
 * Return the idle usage of a deployment: the job image, alarms, and Lambda's reads of the tables' streams. All
 * other resources of its templates are free while idle (`test/infra/deployment/idle-cost.ts` lists them), and
 * nothing runs on a schedule.
 */
export function idleItems(templates: ReadonlyMap<string, Template>, imageBytes: number): IdleItem[] {
  const resources = [...templates.values()].flatMap(({ Resources }) => Object.values(Resources));
  const of = (type: string) => resources.filter(({ Type }) => Type === type);
  const ticks = of('AWS::Events::Rule').map(({ Properties }) => ticksOf(Properties['ScheduleExpression']));
  return [
    {
      // The first deployment pushes it. The free half gigabyte of ECR ends with an account's first year.
      what: 'Job image in ECR',
      used: imageBytes / 1e9,
      unit: 'GB',
      free: 0,
      price: prices.ecr.gbMonth,
    },
    {
      what: 'Lambda requests by schedules',
      used: ticks.reduce((sum, one) => sum + one, 0),
      unit: 'requests',
      free: 1e6,
      price: prices.lambda.request,
    },
    {
      // Each alarm has one metric, and AWS charges per metric.
      what: 'CloudWatch alarms',
      used: of('AWS::CloudWatch::Alarm').length,
      unit: 'alarms',
      free: 10,
      price: prices.alarm.month,
    },
    {
      // Free at any rate: AWS does not charge for Lambda's own reads of a stream.
      what: 'DynamoDB streams that Lambda reads',
      used: of('AWS::Lambda::EventSourceMapping').length,
      unit: 'streams',
      free: Number.POSITIVE_INFINITY,
      price: 0,
    },
  ];
}

/** Usage of an idle deployment. */
export interface IdleItem {
  what: string;
  /** Monthly amount. */
  used: number;
  unit: string;
  /** Monthly free allowance of AWS that does not end with an account's first year. */
  free: number;
  /** US dollars per unit beyond the allowance. */
  price: number;
}

const minutesOf = { minute: 1, minutes: 1, hour: 60, hours: 60, day: 1440, days: 1440 } as const;

const minutesOfMonth = 30.4 * 24 * 60;

/** Return how often a scheduled rule starts its targets in a month, or 0 for a rule that waits for events. */
function ticksOf(expression: unknown): number {
  if (expression === undefined) return 0;
  const [, count, unit] = /^rate\((\d+) (minutes?|hours?|days?)\)$/.exec(String(expression)) ?? [];
  const known = Object.entries(minutesOf).find(([name]) => name === unit);
  if (count === undefined || known === undefined)
    throw new Error(`no price for the schedule ${String(expression)}`);
  return minutesOfMonth / (Number(count) * known[1]);
}

/** Return the monthly cost in US dollars. */
export const idleCost = ({ used, free, price }: IdleItem): number => Math.max(0, used - free) * price;

/**
 * Compressed bytes that the Dockerfile adds to the context, measured on 2026-11-25 for amd64: package sizes from
 * Debian's index of trixie, the program of Node 24.21 with gzip, and the wheel of uv 0.13.9. A registry compresses
 * layers with gzip, which is slightly larger than Debian's xz.
 */
const measuredLayers = { debian: 32_772_900, packages: 8_543_932, node: 44_617_929, uv: 17_606_939 };

/**
 * Estimate the bytes of the job image in a registry with the current context. This needs neither Docker nor an
 * account.
 */
export async function jobImageBytes(root: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'mps-image-'));
  try {
    await prepareImageContext(root, join(folder, 'context'));
    let bytes = Object.values(measuredLayers).reduce((sum, one) => sum + one, 0);
    for await (const piece of create({ gzip: true, cwd: folder }, ['context'])) bytes += piece.length;
    return bytes;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
