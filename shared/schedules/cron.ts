import { Cron } from 'croner';
import * as z from 'zod';

/** Minimum number of minutes between two runs of a schedule. */
export const minMinutes = 5;

/** Five fields of cron. Its message names every faulty field and what is allowed there. */
export const CronText = z
  .string('must be five fields of cron, such as 0 3 * * 1-5')
  .max(256, 'is longer than 256 characters')
  .transform((text) => text.trim().split(/\s+/).join(' '))
  .superRefine((text, context) => {
    const message = cronFault(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

/** Name of a time zone, in its usual spelling. */
export const ZoneName = z
  .string('must be the IANA name of a time zone, such as Europe/Berlin')
  .max(64, 'is longer than 64 characters')
  .transform((name, context) => {
    const zone = /^[A-Za-z]/.test(name) ? zoneOf(name) : undefined;
    if (zone !== undefined) return zone;
    context.addIssue({
      code: 'custom',
      message: `is not a time zone; allowed are IANA names, such as Europe/Berlin, America/New_York or UTC`,
    });
    return z.NEVER;
  });

function zoneOf(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

const fields = [
  { name: 'minute', allowed: '0 to 59' },
  { name: 'hour', allowed: '0 to 23' },
  { name: 'day of month', allowed: '1 to 31' },
  { name: 'month', allowed: '1 to 12 or JAN to DEC' },
  { name: 'day of week', allowed: '0 to 7 or SUN to SAT' },
] as const;

/** Return what is wrong with an expression, in a sentence. Return undefined if nothing is. */
function cronFault(text: string): string | undefined {
  const words = text.split(' ');
  if (words.length !== fields.length)
    return `has ${text === '' ? 0 : words.length} fields; allowed are five: ${fields.map(({ name }) => name).join(', ')}, such as 0 3 * * 1-5`;
  const faults = fields.flatMap(({ name, allowed }, index) => {
    const field = words[index] ?? '';
    const alone = fields.map((_, at) => (at === index ? field : '*')).join(' ');
    return wellFormed.test(field) && cronOf(alone) !== undefined
      ? []
      : [
          `${name} ${field} is not allowed; allowed are ${allowed}, *, lists (1,15), ranges (1-5), steps (*/2)`,
        ];
  });
  if (faults.length > 0) return faults.join('. ');
  const cron = cronOf(text);
  let before = cron?.nextRun(someDay);
  if (cron === undefined || !before) return 'never fires: there is no such date';
  for (let run = 0; run < checkedRuns; run += 1) {
    const next = cron.nextRun(before);
    if (!next) return undefined;
    if (next.getTime() - before.getTime() < minMinutes * 60_000)
      return `fires more than once in ${minMinutes} minutes; allowed is every ${minMinutes} minutes at most, such as */${minMinutes} * * * *`;
    before = next;
  }
  return undefined;
}

/** Letters are only those of months and days: croner also knows L, W and #, which mean something else elsewhere. */
const wellFormed =
  /^(?:[\d*,/-]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)+$/i;

/** More than the runs of a day at the shortest distance, so two that are too near are among them. */
const checkedRuns = 300;
const someDay = new Date(Date.UTC(2024, 0, 1));

function cronOf(text: string): Cron | undefined {
  try {
    return new Cron(text, { timezone: 'UTC', mode: '5-part' });
  } catch {
    return undefined;
  }
}

/**
 * Return the first time after another at which a schedule fires. A local time that daylight saving time skips is moved to
 * the end of the gap; one that comes twice fires the first time. croner itself does so for some expressions alone.
 * @throws if the stored expression is not one
 * @example
 * nextFire({ cron: '30 2 * * *', zone: 'Europe/Berlin' }, new Date('2026-03-28T12:00:00Z')); // 2026-03-29T01:00:00Z, 03:00 there
 */
export function nextFire({ cron, zone }: { cron: string; zone: string }, after: Date): Date | undefined {
  // Local times are computed as if they were UTC, which has no daylight saving time.
  const times = new Cron(cron, { timezone: 'UTC', mode: '5-part' });
  const offset = offsetIn(zone);
  let local = times.nextRun(new Date(after.getTime() + offset(after.getTime())));
  for (; local !== null; local = times.nextRun(local)) {
    const instant = instantOf(local.getTime(), offset);
    if (instant > after.getTime()) return new Date(instant);
  }
  return undefined;
}

/** Milliseconds by which the clocks of a zone are ahead of UTC at a time. */
type Offset = (time: number) => number;

/** Return the first instant of a local time, or the end of the gap that it is in. */
function instantOf(local: number, offset: Offset): number {
  const [before, after] = [offset(local - dayMilliseconds), offset(local + dayMilliseconds)];
  for (const ahead of [before, after]) if (offset(local - ahead) === ahead) return local - ahead;
  let [low, high] = [local - after, local - before];
  while (high - low > 1000) {
    const middle = low + Math.floor((high - low) / 2000) * 1000;
    if (offset(middle) === before) low = middle;
    else high = middle;
  }
  return high;
}

const dayMilliseconds = 24 * 60 * 60_000;

function offsetIn(zone: string): Offset {
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('en-US', { ...clock, timeZone: zone });
  formats.set(zone, format);
  return (time) => {
    const parts = format.formatToParts(time);
    const of = (type: Intl.DateTimeFormatPartTypes): number =>
      Number(parts.find((part) => part.type === type)?.value);
    const local = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
    return local - Math.floor(time / 1000) * 1000;
  };
}

/** By zone. There are some hundred of them, and making one takes longer than using it. */
const formats = new Map<string, Intl.DateTimeFormat>();

const clock: Intl.DateTimeFormatOptions = {
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
};
