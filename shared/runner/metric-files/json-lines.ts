import { parsePythonJson } from '../../core/text/parse-python-json.ts';
import { isMetricName } from '../printed-metrics/metric-words.ts';
import { type FileMetric, noMetrics, stepColumns } from './csv-metrics.ts';
import { isOfRun } from './event-names.ts';

/** Lines without a metric in front of the first that has one, such as the environment that mmdet writes. */
const maxLines = 5;

const maxNames = 1_000;
const maxDepth = 3;

/** What programs measure beside metrics. */
const ofTime =
  /(?:^|[./_])(?:time|data_time|eta_seconds|memory|max_mem|rank_data_time|timestamp|date|hostname|pid|node_ip|n_parameters|time_\w+)$/i;

/**
 * Reads the rows of a file with a JSON object in each line: `metrics.json` of detectron2 and maskrcnn, `scalars.json` of
 * mmengine, `*.log.json` of mmcv, `log.txt` of DETR and MAE, `result.json` of Tune, and `*.jsonl` of many loops.
 */
export class JsonLines {
  #lines = 0;
  #hasMetrics = false;
  #isOther = false;
  /** The first row, because a file of one object is none of rows. */
  #first: FileMetric[] | undefined;

  /** Whether the file is none of metrics in lines. */
  get isOther(): boolean {
    return this.#isOther;
  }

  /** Return the metrics of a complete line. */
  read(line: string): FileMetric[] {
    if (this.#isOther || line.trim() === '') return [];
    this.#lines += 1;
    const row = rowOf(line);
    const metrics = row === undefined ? [] : metricsOf(row);
    if (metrics.some(({ name }) => isMetricName(name))) this.#hasMetrics = true;
    else if (row === undefined || this.#lines >= maxLines) this.#isOther = !this.#hasMetrics;
    if (!this.#hasMetrics) return [];
    if (this.#lines === 1) {
      this.#first = metrics;
      return [];
    }
    const first = this.#first ?? [];
    this.#first = undefined;
    return [...first, ...metrics];
  }
}

function rowOf(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const value = parsePythonJson(line);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function metricsOf(row: Readonly<Record<string, unknown>>): FileMetric[] {
  const found: [string, number][] = [];
  const collect = (value: unknown, name: string, depth: number): void => {
    if (found.length >= maxNames) return;
    if (typeof value === 'number') found.push([name, value]);
    if (typeof value !== 'object' || value === null || Array.isArray(value) || depth === maxDepth) return;
    for (const [key, one] of Object.entries(value))
      collect(one, name === '' ? key : `${name}.${key}`, depth + 1);
  };
  collect(row, '', 0);
  const numbers = new Map(found);
  // mmcv counts `iter` within the epoch.
  const of = typeof row['mode'] === 'string' ? row['mode'] : '';
  const names = of === '' ? [...stepColumns, 'training_iteration'] : ['epoch'];
  const step = names.map((name) => numbers.get(name)).find((one) => Number.isFinite(one));
  if (step === undefined) return [];
  const prefix = of === '' || of === 'train' ? '' : `${of}_`;
  return found
    .filter(
      ([name]) =>
        !noMetrics.test(name) && !ofTime.test(name) && !isOfRun(name) && name !== 'training_iteration',
    )
    .map(([name, value]) => ({ name: `${prefix}${name}`, value, step }));
}
