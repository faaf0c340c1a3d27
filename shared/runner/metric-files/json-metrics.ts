import { parsePythonJson } from '../../core/text/parse-python-json.ts';
import type { FileMetric } from './csv-metrics.ts';
import { isOfRun } from './event-names.ts';

/** Names and depth of the numbers that a JSON file of metrics may have. */
const maxNames = 200;
const maxDepth = 4;

/**
 * Return the numbers of a JSON file of metrics, such as DVC's and spaCy's `metrics.json`. Names of nested objects are
 * joined by dots.
 */
export function summaryMetrics(text: string, path: string): FileMetric[] {
  const found: FileMetric[] = [];
  const read = (value: unknown, name: string, depth: number): void => {
    if (found.length >= maxNames) return;
    const isMetric = name !== '' && !noMetrics.has(name) && !isOfRun(name);
    if (typeof value === 'number' && isMetric) found.push({ name, value, step: null });
    if (!isObject(value) || depth > maxDepth) return;
    for (const [key, one] of Object.entries(value))
      read(one, name === '' ? key : `${name}.${key}`, depth + 1);
  };
  const value = parsed(text);
  // spaCy's meta.json of a pipeline has its scores among other facts.
  const isMeta = /(?:^|\/)meta\.json$/.test(path);
  read(isMeta && isObject(value) ? value['performance'] : value, '', 0);
  return found;
}

/** Return the history of a `trainer_state.json` of Hugging Face's Trainer. */
export function trainerHistory(text: string): FileMetric[] {
  const value = parsed(text);
  const history = isObject(value) ? value['log_history'] : undefined;
  if (!Array.isArray(history)) return [];
  return history.flatMap((entry: unknown) => {
    if (!isObject(entry)) return [];
    const step = Number.isFinite(entry['step']) ? Number(entry['step']) : null;
    return Object.entries(entry).flatMap(([name, one]) =>
      typeof one === 'number' && !noMetrics.has(name) && !isOfRun(name) ? [{ name, value: one, step }] : [],
    );
  });
}

const noMetrics = new Set(['step', 'epoch']);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parse a file. A torn one is nothing. */
function parsed(text: string): unknown {
  try {
    return parsePythonJson(text);
  } catch {
    return undefined;
  }
}
