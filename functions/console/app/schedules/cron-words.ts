/**
 * Return an expression of cron in words. Return it as it is if it is none of the usual ones.
 * @example
 * cronWords('0 3 * * 1-5'); // 'at 03:00, Monday to Friday'
 */
export function cronWords(cron: string): string {
  const [minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] = cron.split(' ');
  const days = daysText(dayOfMonth, month, dayOfWeek);
  const times = timesText(minute, hour);
  return days === undefined || times === undefined ? cron : `${times}${days}`;
}

function timesText(minute: string, hour: string): string | undefined {
  const every = stepOf(minute);
  if (every !== undefined && hour === '*')
    return every > 1 && 60 % every === 0 ? `every ${every} minutes` : undefined;
  if (!isNumber(minute)) return undefined;
  const past = minute.padStart(2, '0');
  const hours = stepOf(hour);
  if (hours !== undefined)
    return 24 % hours === 0
      ? `${hours === 1 ? 'every hour' : `every ${hours} hours`} at :${past}`
      : undefined;
  const named = hour.split(',');
  if (!named.every(isNumber)) return undefined;
  return `at ${named.map((each) => `${each.padStart(2, '0')}:${past}`).join(' and ')}`;
}

/** Return the step of a field such as `*` or one with a slash. */
function stepOf(field: string): number | undefined {
  if (field === '*') return 1;
  const step = /^\*\/(\d+)$/.exec(field)?.[1];
  return step === undefined ? undefined : Number(step);
}

function daysText(dayOfMonth: string, month: string, dayOfWeek: string): string | undefined {
  if (month !== '*') return undefined;
  if (dayOfMonth === '*' && dayOfWeek === '*') return ', every day';
  if (dayOfMonth !== '*')
    return dayOfWeek === '*' && isNumber(dayOfMonth) ? `, on day ${dayOfMonth} of the month` : undefined;
  const range = dayOfWeek.split('-').map(dayName);
  const [first, last] = range;
  if (range.length === 2 && first !== undefined && last !== undefined) return `, ${first} to ${last}`;
  const named = dayOfWeek.split(',').map(dayName);
  return named.every((name) => name !== undefined) ? `, ${named.join(' and ')}` : undefined;
}

const isNumber = (text: string): boolean => /^\d{1,2}$/.test(text);

const dayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

const dayName = (day: string): string | undefined =>
  /^[0-7]$/.test(day)
    ? dayNames[Number(day) % 7]
    : dayNames.find((name) => name.slice(0, 3).toLowerCase() === day.toLowerCase());
