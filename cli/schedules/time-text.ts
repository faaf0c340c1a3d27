/**
 * Return a time on the clocks of a zone, to the minute.
 * @example
 * timeText('2026-11-30T02:00:00.000Z', 'Europe/Berlin'); // '2026-11-30 03:00 (Europe/Berlin)'
 */
export const timeText = (at: string, zone: string): string =>
  `${new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' }).format(new Date(at))} (${zone})`;
