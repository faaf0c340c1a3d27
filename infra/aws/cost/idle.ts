import type { Template } from '../build/templates.ts';
import { prices } from './price-list.ts';

/** Something that an idle deployment uses. */
export interface IdleItem {
  what: string;
  /** A month. */
  used: number;
  unit: string;
  /** Monthly free allowances of AWS that do not end with an account's first year. */
  free: number;
  /** US dollars for each unit beyond. */
  price: number;
}

const minutesOfMonth = 30.4 * 24 * 60;
const minutesOf = { minute: 1, minutes: 1, hour: 60, hours: 60, day: 1440, days: 1440 } as const;

/** How often a rule starts its targets by itself in a month; nothing for one that waits for events. */
function ticksOf(expression: unknown): number {
  if (expression === undefined) return 0;
  const [, count, unit] = /^rate\((\d+) (minutes?|hours?|days?)\)$/.exec(String(expression)) ?? [];
  const known = Object.entries(minutesOf).find(([name]) => name === unit);
  if (count === undefined || known === undefined)
    throw new Error(`no price for the schedule ${String(expression)}`);
  return minutesOfMonth / (Number(count) * known[1]);
}

/**
 * Idle usage of a deployment: the job image, alarms, and readings of the tables' streams by Lambda. Everything else in its templates
 * costs nothing idle (`test/infra/deployment/idle-cost.ts` keeps the list), and nothing runs on a schedule.
 */
export function idleItems(templates: ReadonlyMap<string, Template>, imageBytes: number): IdleItem[] {
  const resources = [...templates.values()].flatMap(({ Resources }) => Object.values(Resources));
  const of = (type: string) => resources.filter(({ Type }) => Type === type);
  const ticks = of('AWS::Events::Rule').map(({ Properties }) => ticksOf(Properties['ScheduleExpression']));
  return [
    {
      // The first deployment brings it; the free half gigabyte of ECR ends with an account's first year.
      what: 'Job image in ECR',
      used: imageBytes / 1e9,
      unit: 'GB',
      free: 0,
      price: prices.ecr.gbMonth,
    },
    {
      what: 'Lambda requests by ticks',
      used: ticks.reduce((sum, one) => sum + one, 0),
      unit: 'requests',
      free: 1e6,
      price: prices.lambda.request,
    },
    {
      // Each has one metric, by which they are paid.
      what: 'CloudWatch alarms',
      used: of('AWS::CloudWatch::Alarm').length,
      unit: 'alarms',
      free: 10,
      price: prices.alarm.month,
    },
    {
      // Free however often: AWS does not charge for what Lambda itself reads of a stream.
      what: 'DynamoDB streams that Lambda reads',
      used: of('AWS::Lambda::EventSourceMapping').length,
      unit: 'streams',
      free: Number.POSITIVE_INFINITY,
      price: 0,
    },
  ];
}

/** US dollars a month. */
export const idleCost = ({ used, free, price }: IdleItem): number => Math.max(0, used - free) * price;
