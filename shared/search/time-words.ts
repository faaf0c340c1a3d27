/** Milliseconds since 1970 from `from` up to, but not including, `to`. */
export interface TimeSpan {
  from: number;
  to: number;
}

/** Times in words at the current position, without case. */
export const timeWords =
  /(?:now|today|yesterday|(?:this|last)\s+(?:minute|hour|day|week|month|year)|last\s+\d{1,4}\s*[a-z]{1,7}|\d{1,4}\s*[a-z]{1,7}\s+ago)(?![^\s,()])/iy;

/** Days are those of the time zone in which the filter is read: the person's in the console, the service's elsewhere. */
export function timeSpan(words: string, now: Date): TimeSpan | undefined {
  const text = words.trim().toLowerCase().replaceAll(/\s+/g, ' ');
  const at = now.getTime();
  switch (text) {
    case 'now':
      return { from: at, to: at + 1 };
    case 'today':
    case 'this day':
      return calendar('day', now, 0);
    case 'yesterday':
      return calendar('day', now, 1);
    default:
  }
  const [, given = '', name = ''] = /^(this|last(?: \d{1,4})?|\d{1,4}) ?([a-z]+)(?: ago)?$/.exec(text) ?? [];
  const unit = unitOf(name);
  if (unit === undefined) return undefined;
  const count = Number(/\d+/.exec(given)?.[0] ?? 1);
  if (given === 'this') return calendar(unit, now, 0);
  if (given.startsWith('last')) return { from: before(unit, now, count).getTime(), to: at + 1 };
  // Some days ago is that whole day; some hours ago is a moment.
  const then = before(unit, now, count);
  return unit === 'hour' || unit === 'minute'
    ? { from: then.getTime(), to: then.getTime() + 1 }
    : calendar('day', then, 0);
}

type Unit = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year';

const units: readonly [Unit, RegExp][] = [
  ['minute', /^(?:m|mins?|minutes?)$/],
  ['hour', /^(?:h|hrs?|hours?)$/],
  ['day', /^(?:d|days?)$/],
  ['week', /^(?:w|weeks?)$/],
  ['month', /^months?$/],
  ['year', /^(?:y|years?)$/],
];

const unitOf = (name: string): Unit | undefined => units.find(([, names]) => names.test(name))?.[0];

/** Units that are counted, not set: when clocks go back, an hour comes twice, and a set time is in the first. */
const counted: Readonly<Partial<Record<Unit, number>>> = { minute: 60_000, hour: 3_600_000 };

/** Return the moment some units before another one. */
function before(unit: Unit, now: Date, count: number): Date {
  const length = counted[unit];
  if (length !== undefined) return new Date(now.getTime() - count * length);
  const then = new Date(now);
  if (unit === 'day') then.setDate(now.getDate() - count);
  else if (unit === 'week') then.setDate(now.getDate() - 7 * count);
  else {
    // The last day of a month stands for those that it lacks: a month before 31 March is 28 February.
    const month = now.getMonth() - count * (unit === 'month' ? 1 : 12);
    const lastDay = new Date(now.getFullYear(), month + 1, 0).getDate();
    then.setMonth(month, Math.min(now.getDate(), lastDay));
  }
  return then;
}

/** Return the unit of the calendar that holds a moment, or one before it. Weeks begin on Monday. */
function calendar(unit: Unit, now: Date, ago: number): TimeSpan {
  const start = before(unit, now, ago);
  if (counted[unit] !== undefined) {
    const minutes = unit === 'hour' ? start.getMinutes() : 0;
    start.setTime(start.getTime() - (minutes * 60 + start.getSeconds()) * 1000 - start.getMilliseconds());
  } else start.setHours(0, 0, 0, 0);
  if (unit === 'week') start.setDate(start.getDate() - ((start.getDay() + 6) % 7));
  if (unit === 'month' || unit === 'year') start.setDate(1);
  if (unit === 'year') start.setMonth(0);
  return { from: start.getTime(), to: before(unit, start, -1).getTime() };
}

/** A length of time at the current position: numbers with units. */
export const lengthWords = /\d+(?:\.\d+)?\s*[a-z]{1,7}(?:\s+\d+(?:\.\d+)?\s*[a-z]{1,7})*(?![^\s,()])/iy;

/** Read a length of time such as `90s`, `1.5h` or `1h 30m`, in seconds. */
export function secondsOf(text: string): number | undefined {
  const parts = [
    ...text.matchAll(/(\d+(?:\.\d+)?)\s*(s|m|h|d|sec|min|hours?|minutes?|seconds?|days?)(?![a-z])\s*/giy),
  ];
  const whole = parts.map(([part]) => part).join('');
  if (whole === '' || whole !== text) return undefined;
  return parts.reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (seconds[unit.charAt(0).toLowerCase()] ?? 0),
    0,
  );
}

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
