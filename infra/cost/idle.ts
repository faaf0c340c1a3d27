import type { Template } from '../build/templates.ts';
import { prices } from './prices.ts';

/** Something that is used while nobody uses the service. */
export interface IdleItem {
  what: string;
  /** A month. */
  used: number;
  unit: string;
  /** What AWS always gives away each month, not only in an account's first year. */
  free: number;
  /** US dollars for each unit beyond. */
  price: number;
}

const daysOfMonth = 30.4;
const minutesOfMonth = daysOfMonth * 24 * 60;
/** Seconds that a tick takes which finds nothing to do, with a cold start in each. */
const tickSeconds = 1.5;
/** Lines of log that a tick writes, in GB. */
const tickLogGb = 600 / 1e9;
/** Queries of a tick that finds nothing: each half a read unit would do, and takes a whole one where it is consistent. */
const tickReads: Readonly<Record<string, number>> = { reconcile: 1, purge: 2 };

const minutesOf = { minute: 1, minutes: 1, hour: 60, hours: 60, day: 1440, days: 1440 } as const;

function periodOf(expression: string): number | undefined {
  const [, count, unit] = /^rate\((\d+) (minutes?|hours?|days?)\)$/.exec(expression) ?? [];
  const known = Object.entries(minutesOf).find(([name]) => name === unit);
  return count === undefined || known === undefined ? undefined : Number(count) * known[1];
}

interface Tick {
  name: string;
  perMonth: number;
}

function ticksOf(templates: Iterable<Template>): Tick[] {
  return [...templates].flatMap(({ Resources }) =>
    Object.entries(Resources).flatMap(([id, { Type, Properties }]) => {
      const period =
        Type === 'AWS::Events::Rule' ? periodOf(String(Properties['ScheduleExpression'])) : undefined;
      return period === undefined
        ? []
        : [{ name: id.replace(/Rule[0-9A-F]{8}$/, ''), perMonth: minutesOfMonth / period }];
    }),
  );
}

const countOf = (templates: Iterable<Template>, type: string): number =>
  [...templates].flatMap(({ Resources }) => Object.values(Resources)).filter(({ Type }) => Type === type)
    .length;

/** What a deployment uses by itself: ticks, and alarms. Everything else in its templates costs nothing idle. */
export function idleItems(templates: ReadonlyMap<string, Template>, memoryMiB: number): IdleItem[] {
  const all = [...templates.values()];
  const ticks = ticksOf(all);
  const perMonth = ticks.reduce((sum, tick) => sum + tick.perMonth, 0);
  const reads = ticks.reduce((sum, tick) => sum + tick.perMonth * (tickReads[tick.name] ?? 1), 0);
  return [
    {
      what: 'Lambda requests by ticks',
      used: perMonth,
      unit: 'requests',
      free: 1e6,
      price: prices.lambda.request,
    },
    {
      what: 'Lambda time of ticks',
      used: (perMonth * tickSeconds * memoryMiB) / 1024,
      unit: 'GB-s',
      free: 400_000,
      price: prices.lambda.gibSecond,
    },
    {
      what: 'CloudWatch alarms',
      used: countOf(all, 'AWS::CloudWatch::Alarm'),
      unit: 'alarms',
      free: 10,
      price: 0.1,
    },
    {
      what: 'CloudWatch Logs of ticks',
      used: perMonth * tickLogGb,
      unit: 'GB',
      free: 5,
      price: prices.logs.gbIngested,
    },
    {
      what: 'EventBridge rules and schedules',
      used: perMonth,
      unit: 'invocations',
      free: Number.POSITIVE_INFINITY,
      price: 0,
    },
    {
      what: 'DynamoDB reads by ticks',
      used: reads,
      unit: 'read units',
      free: 0,
      price: prices.dynamoDb.readUnit,
    },
  ];
}

/** US dollars a month. */
export const idleCost = ({ used, free, price }: IdleItem): number => Math.max(0, used - free) * price;
