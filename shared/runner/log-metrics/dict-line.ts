import { isMetricName } from './metric-words.ts';
import type { FoundLine } from './printed-metrics.ts';
import { printedNumber } from './printed-number.ts';

/** One entry of a printed Python dictionary or JSON object. */
const entry = /(['"])([\w@./ -]{1,100})\1: ?(?:(['"])([^'"]{0,40})\3|([^\s,{}[\]'"]{1,40}))(?:, ?|$)/y;

const steps: readonly string[] = ['step', 'global_step', 'iteration', 'iter', 'epoch'];

/**
 * Recognize a line that is one dictionary of numbers, such as `{'loss': 0.3, 'learning_rate': 5e-05, 'epoch': 1.0}` of
 * Hugging Face's Trainer. Its last entries print what the run took.
 */
export function dictLine(text: string): FoundLine | undefined {
  const line = text.trim();
  if (!line.startsWith('{') || !line.endsWith('}')) return undefined;
  const inner = line.slice(1, -1).trim();
  const numbers = new Map<string, number>();
  for (let at = 0; at < inner.length; ) {
    entry.lastIndex = at;
    const found = entry.exec(inner);
    if (found === null) return undefined;
    at = entry.lastIndex;
    const value = printedNumber(found[4] ?? found[5] ?? '');
    if (value !== undefined) numbers.set(found[2] ?? '', value);
  }
  const step = steps.map((name) => numbers.get(name)).find((one) => one !== undefined);
  const values = [...numbers].filter(([name]) => !steps.includes(name) && !ofRun.test(name));
  // A dictionary without a step is a dump of settings, unless all of it are metrics.
  const metrics = values.filter(([name]) => isMetricName(name));
  if (metrics.length === 0 || (step === undefined && metrics.length < values.length)) return undefined;
  if (step === undefined && metrics.some(([, value]) => Number.isInteger(value))) return undefined;
  return { step: step ?? null, values, ...(numbers.has('epoch') && { epoch: numbers.get('epoch') ?? 0 }) };
}

const ofRun = /(?:_runtime|_per_second|_flos|^total_flos|_samples|_time)$/;
