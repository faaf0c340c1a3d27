import { Cron } from 'croner';
import { describe, expect, test } from 'vitest';
import { CronText, nextFire, ZoneName } from '../../../shared/schedules/cron.ts';

const faultOf = (text: string): string | undefined => CronText.safeParse(text).error?.issues[0]?.message;

describe('an expression', () => {
  test.each([
    '0 3 * * 1-5',
    '*/5 * * * *',
    '0,30 9-17 * * MON-FRI',
    '  15   2 1,15 * * ',
    '0 0 29 2 *',
    '58,3 3,5 * * *',
    '0 12 * JAN,jul SUN',
    '0 0 * * 7',
  ])('%s is taken', (text) => {
    const fault = faultOf(text);

    expect(fault).toBeUndefined();
  });

  test.each([
    ['* * * * *', 'fires more than once in 5 minutes'],
    ['*/4 * * * *', 'fires more than once in 5 minutes'],
    ['0,3 0 1 1 *', 'fires more than once in 5 minutes'],
    ['58,2 * * * *', 'fires more than once in 5 minutes'],
    ['0 0 31 2 *', 'never fires'],
    ['0 0 30 2 *', 'never fires'],
    ['0 0 31 4,6,9,11 *', 'never fires'],
    ['', 'has 0 fields'],
    ['0 3 * *', 'has 4 fields'],
    ['0 0 3 * * 1', 'has 6 fields'],
    ['@daily', 'has 1 fields'],
    ['0 3 L * *', 'day of month L is not allowed'],
    ['0 3 * * 5#2', 'day of week 5#2 is not allowed'],
    ['0 3 ? * *', 'day of month ? is not allowed'],
    ['0 3 15W * *', 'day of month 15W is not allowed'],
    ['*/0 3 * * *', 'minute */0 is not allowed'],
    ['-1 3 * * *', 'minute -1 is not allowed'],
    ['1,,2 3 * * *', 'minute 1,,2 is not allowed'],
    ['0 5-3 * * *', 'hour 5-3 is not allowed'],
  ])('%s is refused', (text, said) => {
    const fault = faultOf(text);

    expect(fault).toContain(said);
  });

  test('is refused with all its faults, and what is allowed', () => {
    const fault = faultOf('60 24 0 13 8');

    for (const said of [
      'minute 60',
      '0 to 59',
      'hour 24',
      '0 to 23',
      'day of month 0',
      '1 to 31',
      'month 13',
      '1 to 12',
      'day of week 8',
      '0 to 7',
    ])
      expect(fault).toContain(said);
  });
});

test.each(['Europe/Berlin', 'America/Argentina/Buenos_Aires', 'UTC', 'Etc/GMT+5'])(
  'the zone %s is taken',
  (zone) => {
    const parsed = ZoneName.safeParse(zone);

    expect(parsed.success).toBe(true);
  },
);

test.each(['Mars/Olympus', '', '+02:00', 'Berlin', '../etc/localtime'])(
  'the zone "%s" is refused',
  (zone) => {
    const parsed = ZoneName.safeParse(zone);

    expect(parsed.error?.issues[0]?.message).toContain('allowed are IANA names');
  },
);

const minute = 60_000;
const day = 24 * 60 * minute;

/** Milliseconds by which the clocks of a zone are ahead of UTC. */
function offsetOf(zone: string) {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    ...{
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    },
  });
  return (time: number): number => {
    const parts = Object.fromEntries(
      format.formatToParts(time).map(({ type, value }) => [type, Number(value)]),
    );
    const { year = 0, month = 1, day = 1, hour = 0, minute: minutes = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minutes, second) - Math.floor(time / 1000) * 1000;
  };
}

interface Transition {
  at: number;
  before: number;
  after: number;
}

/** The changes of a zone's clocks in a time, found by halving. */
function transitionsOf(offset: (time: number) => number, from: number, to: number): Transition[] {
  const found: Transition[] = [];
  const step = 7 * day;
  for (let time = from; time < to; time += step) {
    if (offset(time) === offset(time + step)) continue;
    let [low, high] = [time, time + step];
    while (high - low > minute) {
      const middle = low + Math.floor((high - low) / 2 / minute) * minute;
      if (offset(middle) === offset(low)) low = middle;
      else high = middle;
    }
    found.push({ at: high, before: offset(low), after: offset(high) });
  }
  return found;
}

/** Twenty zones: both hemispheres, half and quarter hours, half an hour of daylight saving, changes at midnight, and none. */
const zones = [
  ...[
    'Europe/Berlin',
    'Europe/London',
    'Europe/Dublin',
    'Europe/Chisinau',
    'America/New_York',
    'America/Los_Angeles',
  ],
  ...[
    'America/St_Johns',
    'America/Havana',
    'America/Santiago',
    'America/Asuncion',
    'America/Nuuk',
    'America/Sao_Paulo',
  ],
  ...[
    'Australia/Sydney',
    'Australia/Lord_Howe',
    'Pacific/Auckland',
    'Pacific/Chatham',
    'Asia/Beirut',
    'Asia/Kathmandu',
  ],
  ...['Africa/Cairo', 'Antarctica/Troll'],
];
const [from, to] = [Date.UTC(2026, 0, 1), Date.UTC(2029, 0, 1)];

describe.each(zones)('in %s, for three years', (zone) => {
  const offset = offsetOf(zone);
  const changes = transitionsOf(offset, from, to);
  const daily = (local: Date) => `${local.getUTCMinutes()} ${local.getUTCHours()} * * *`;

  test('a time of the day fires at its local time; in a gap at its end, in a double hour the first time', () => {
    const noons = Array.from({ length: 18 }, (_, index) => from + index * 61 * day + day / 2);
    for (const noon of noons) {
      const due = noon - offset(noon - offset(noon));
      expect(nextFire({ cron: '0 12 * * *', zone }, new Date(due - 1000))?.getTime()).toBe(due);
    }
    for (const { at, before, after } of changes) {
      const shift = Math.abs(after - before);
      // Local times of the gap or the double hour, as if they were UTC.
      for (const part of [0, 0.25, 0.5, 0.75]) {
        const local = at + Math.min(before, after) + Math.floor((shift * part) / minute) * minute;
        const schedule = { cron: daily(new Date(local)), zone };
        const since = new Date(at - shift - day / 2);

        const fired = nextFire(schedule, since);
        const next = nextFire(schedule, fired ?? new Date(0));

        const what = `${schedule.cron} at the change of ${new Date(at).toISOString()}`;
        // EventBridge Scheduler documents the same, save that it leaves out the gap.
        expect(fired?.getTime(), what).toBe(after > before ? at : local - before);
        expect(next?.getTime(), `${what}, the day after`).toBe(local + day - after);
        // croner agrees, save that it leaves out a gap that ends at midnight.
        const isToMidnight = after > before && (at + after) % day === 0;
        const byCroner = new Cron(schedule.cron, { timezone: zone }).nextRun(since);
        if (!isToMidnight) expect(byCroner?.getTime(), what).toBe(fired?.getTime());
      }
    }
  });

  test('several times of a gap are one, and no time of a double hour comes twice', () => {
    for (const { at, before, after } of changes) {
      let time = new Date(at - 3 * 60 * minute);
      const local: number[] = [];
      const fired: number[] = [];
      while (time.getTime() < at + 3 * 60 * minute) {
        time = nextFire({ cron: '*/15 * * * *', zone }, time) ?? new Date(to);
        fired.push(time.getTime());
        local.push(time.getTime() + offset(time.getTime()));
      }
      expect(new Set(fired).size).toBe(fired.length);
      expect(new Set(local).size).toBe(local.length);
      const longest = Math.max(...fired.slice(1).map((one, index) => one - (fired[index] ?? one)));
      expect(longest).toBe(15 * minute + Math.max(0, before - after));
    }
    expect(changes.length).toBeLessThanOrEqual(8);
  });
});
