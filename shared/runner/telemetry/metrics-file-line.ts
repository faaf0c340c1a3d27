import * as z from 'zod';
import { parsePythonJson } from '../../core/text/parse-python-json.ts';
import { line } from '../../core/text/text-rules.ts';
import type { MetricPoint } from '../../data/metrics/metric-summary.ts';

/** The points of a line, and its fault. A line may have both. */
interface ParsedLine {
  points: MetricPoint[];
  fault?: string;
}

const notAnObject = 'it is not a JSON object';

/** Keys of a line that are not metrics. */
const ofLine = new Set(['name', 'step', 'time', 'epoch']);

/** 9999-12-31T23:59:59.999Z, the last instant with a year of four digits. */
const latestMilliseconds = 253_402_300_799_999;

const badTime = 'time is neither ISO 8601 nor epoch seconds';

/** Epoch seconds or ISO 8601. A time without zone is in this machine's zone, as for the command. */
const Time = z
  .union([z.number(), z.string().regex(/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/, badTime)], badTime)
  .transform((time) => (typeof time === 'number' ? time * 1000 : Date.parse(time)))
  .refine((time) => time >= 0 && time <= latestMilliseconds, 'time is not between the years 1970 and 9999');

/** A step is a key: one beyond 2^53 would be kept as its neighbour. */
const Step = z
  .number('step is not a number')
  .check(z.refine((step) => Math.abs(step) <= Number.MAX_SAFE_INTEGER, 'step is beyond 2^53 - 1'));

const When = z.object({ step: Step.nullish(), time: Time.nullish() }, notAnObject);

const Name = z.string('name is not text').pipe(line(128));

/** NaN and the infinities are values: a training that diverges reports them. */
const Value = z.custom<number>((value) => typeof value === 'number', 'value is not a number');

const Named = When.extend({ name: Name, value: Value });

/**
 * Parse a line of METRICS_FILE that was read at `now`. It has one metric, `{"name", "value", "step"?, "time"?}`,
 * or every number of an object is a metric, except `step`, `time` and `epoch`. Without `step`, `epoch` is the
 * step. Never throws.
 */
export function parseMetricLine(text: string, now: Date): ParsedLine {
  let value: unknown;
  try {
    value = parsePythonJson(text);
  } catch {
    return { points: [], fault: 'it is not JSON' };
  }
  if (!isObject(value)) return { points: [], fault: notAnObject };
  return parseObject(value, now);
}

function parseObject(value: Readonly<Record<string, unknown>>, now: Date): ParsedLine {
  const others = Object.keys(value).filter((key) => !ofLine.has(key) && key !== 'value');
  const isNamed = Object.hasOwn(value, 'name') && (Object.hasOwn(value, 'value') || others.length === 0);
  const isOnlyValue = Object.hasOwn(value, 'value') && others.length === 0;
  const given = { ...value, step: known(value['step']) ?? known(value['epoch']), time: known(value['time']) };
  const when = When.safeParse(given);
  const named = isNamed || isOnlyValue ? Named.safeParse(given) : undefined;
  if (named?.success === false) return { points: [], fault: faultOf(named.error) };
  if (!when.success) return { points: [], fault: faultOf(when.error) };
  const at = { step: when.data.step ?? null, time: Math.trunc(when.data.time ?? now.getTime()) };
  if (named !== undefined) return { points: [{ ...at, name: named.data.name, value: named.data.value }] };
  return parseMetrics(value, at);
}

/** A step or a time that is NaN or infinite counts as none. */
const known = (value: unknown): unknown =>
  typeof value === 'number' && !Number.isFinite(value) ? undefined : value;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function faultOf({ issues: [first] }: z.ZodError): string {
  const isOfName = first?.path[0] === 'name' && !first.message.startsWith('name');
  return `${isOfName ? 'name ' : ''}${first?.message ?? 'it is not a metric'}`;
}

/** Return one point for each metric of a line, for example `{"accuracy": 0.93, "loss": 0.2, "step": 4}`. */
function parseMetrics(
  value: Readonly<Record<string, unknown>>,
  when: Pick<MetricPoint, 'step' | 'time'>,
): ParsedLine {
  const points: MetricPoint[] = [];
  const faults: string[] = [];
  for (const [key, one] of Object.entries(value)) {
    // Skip texts and flags without a fault.
    if (ofLine.has(key) || (typeof one !== 'number' && one !== null)) continue;
    const name = Name.safeParse(key);
    if (!name.success) faults.push(`a name ${name.error.issues[0]?.message ?? 'is invalid'}`);
    else if (one === null) faults.push(`${key} is not a number`);
    else points.push({ ...when, name: name.data, value: one });
  }
  const fault = faults[0] ?? (points.length === 0 ? 'it contains no metric' : undefined);
  return { points, ...(fault !== undefined && { fault }) };
}
