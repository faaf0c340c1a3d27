/** Format a number with at most five significant digits. Use powers of ten if plain digits would be long. */
export function numberText(value: number | string | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'string') return value;
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4) return value.toExponential(3).replace(/\.?0*e\+?/, 'e');
  const rounded = Number.isInteger(value) ? value : Number(value.toPrecision(5));
  return Number.isInteger(rounded) ? rounded.toLocaleString('en') : String(rounded);
}

/** Format seconds in a unit and, if there is a rest, a smaller one. */
function twoUnits(seconds: number, large: number, name: string, small: number, smallName: string): string {
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)} ${name}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

/** Format the duration of an experiment. One that rounds to nothing was not measured: it was recorded after its end. */
export const runDurationText = (seconds: number | null | undefined): string =>
  durationText(typeof seconds === 'number' && seconds < 0.05 ? undefined : seconds);

/** Format a duration in its two largest useful units. */
export function durationText(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return '–';
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return twoUnits(whole, 60, 'min', 1, 's');
  if (whole < 86_400) return twoUnits(whole, 3600, 'h', 60, 'min');
  return twoUnits(whole, 86_400, 'd', 3600, 'h');
}

/** Return a typed size of a job in the unit that people think in: GiB, or minutes. Undefined if it is that already. */
export function sizeHint(name: string, typed: string): string | undefined {
  const value = Number(typed);
  if (name === 'memory' && value >= 1024) return `${Number((value / 1024).toFixed(2))} GiB`;
  if (name === 'timeout' && value >= 60 && Number.isFinite(value)) return durationText(value);
  return undefined;
}

/** Return why an experiment failed, without the exit code if there is a better reason. */
export function causeText(reason: string): string {
  const causes = reason.split('\n').filter((line) => !/^The command ended with exit code \d+\.$/.test(line));
  return causes.length === 0 ? reason : causes.join('\n');
}

/** Format the milliseconds of a run of a model. */
export const latencyText = (milliseconds: number): string =>
  milliseconds < 1
    ? `${Number((milliseconds * 1000).toPrecision(3))} µs`
    : `${Number(milliseconds.toPrecision(3)).toLocaleString('en')} ms`;

export function costText(cost: number | null | undefined): string {
  if (cost === null || cost === undefined) return '–';
  if (cost === 0) return 'free';
  return cost < 0.01 ? `$${cost.toPrecision(2)}` : `$${cost.toFixed(2)}`;
}

/** Format a time as relative if it is recent, else as a date. */
export function agoText(time: string | null | undefined, now = Date.now()): string {
  if (time === null || time === undefined) return '–';
  const seconds = (now - Date.parse(time)) / 1000;
  if (seconds < 5) return 'just now';
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  if (seconds < 30 * 86_400) return `${Math.floor(seconds / 86_400)} d ago`;
  return time.slice(0, 10);
}

/** Format a full time in the reader's time zone. */
export function timeText(time: string | null | undefined): string {
  if (time === null || time === undefined) return '–';
  times ??= new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
  return times.format(new Date(time));
}

/** Format a number with so many decimal places. */
export function fixedText(value: number, decimals: number): string {
  let format = fixedNumbers.get(decimals);
  if (format === undefined) {
    format = new Intl.NumberFormat('en', {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    });
    fixedNumbers.set(decimals, format);
  }
  return format.format(value);
}

// A formatter is kept, because making one takes far longer than a text, and each row of a table has some. `toLocaleString` with
// options makes one for every text.
let times: Intl.DateTimeFormat | undefined;
const fixedNumbers = new Map<number, Intl.NumberFormat>();

/** Shorten a text to a number of characters. */
export const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

/** Return whether a text is a number as metrics have them, so that it stands right in a column. */
export const isNumberText = (text: string): boolean =>
  text.trim() !== '' && (Number.isFinite(Number(text)) || /^(?:NaN|-?Infinity)$/.test(text));
