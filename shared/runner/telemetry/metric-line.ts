import * as z from 'zod';
import { line } from '../../core/text-rules.ts';
import type { MetricPoint } from '../../data/metric-point.ts';

/** 9999-12-31T23:59:59.999Z; beyond it ISO 8601 needs more digits than anybody reads. */
const latestMilliseconds = 253_402_300_799_999;

const finite = (what: string) =>
  z.custom<number>(
    (value) => typeof value === 'number' && Number.isFinite(value),
    `${what} is not a finite number`,
  );

const badTime = 'time is neither ISO 8601 nor epoch seconds';

/** Epoch seconds, or ISO 8601; without a zone it means the zone of this machine, as it does for the command. */
const Time = z
  .union([z.number(), z.string().regex(/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/, badTime)], badTime)
  .transform((time) => (typeof time === 'number' ? time * 1000 : Date.parse(time)))
  .refine((time) => time >= 0 && time <= latestMilliseconds, 'time is not between the years 1970 and 9999');

const Line = z.object(
  {
    name: z.string('name is not text').pipe(line(128)),
    value: finite('value'),
    step: finite('step').nullish(),
    time: Time.nullish(),
  },
  'it is not a JSON object',
);

type ParsedMetric = { point: MetricPoint } | { fault: string };

/** Reads a line of METRICS_FILE, `{"name", "value", "step"?, "time"?}`, that was found at `now`. Never throws. */
export function parseMetric(text: string, now: Date): ParsedMetric {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Python's json writes them so.
    const isPython = /:\s*(?:NaN|-?Infinity)\b/.test(text);
    return { fault: isPython ? 'value is not a finite number' : 'it is not JSON' };
  }
  const parsed = Line.safeParse(value);
  if (!parsed.success) {
    const [first] = parsed.error.issues;
    const isOfName = first?.path[0] === 'name' && !first.message.startsWith('name');
    return { fault: `${isOfName ? 'name ' : ''}${first?.message ?? 'it is not a metric'}` };
  }
  const { name, step = null, time } = parsed.data;
  return { point: { name, value: parsed.data.value, step, time: Math.trunc(time ?? now.getTime()) } };
}
