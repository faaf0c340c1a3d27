import { maxMetricNames } from '../../shared/data/experiments/tracking-rules.ts';
import { latest, shownDouble } from '../../shared/mlflow/protocol/scalars.ts';
import type { SourcePoint } from './source.ts';

/** Points of a run in the columns of one request. */
export interface PointBatch {
  series: Series[];
  points: number;
  /** Milliseconds since the epoch of the latest point; 0 if there is none. */
  last: number;
}

interface Series {
  key: string;
  steps: number[];
  timestamps: number[];
  values: (number | string)[];
}

/**
 * Yield all points of a run in batches, at least one, which may be empty. If the source fails, what it gave comes first.
 * @param nameOf returns the name here of a metric of the source; undefined if the run takes no more metrics
 * @param note called with what is left out or changed
 */
export async function* pointBatches(
  source: AsyncIterable<readonly SourcePoint[]>,
  nameOf: (key: string) => string | undefined,
  note: (reason: string) => void,
): AsyncGenerator<PointBatch> {
  let batch = emptyBatch();
  try {
    for await (const points of source)
      for (const point of points) {
        const timestamp = fitTime(point, note);
        if (timestamp === undefined) continue;
        const series = seriesFor(batch, point.key, nameOf);
        if (series === undefined) {
          note(beyondMetrics);
          continue;
        }
        series.steps.push(point.step);
        series.timestamps.push(timestamp);
        series.values.push(typeof point.value === 'number' ? shownDouble(point.value) : point.value);
        batch.points += 1;
        batch.last = Math.max(batch.last, timestamp);
        if (batch.points < maxPoints && batch.nameBytes < maxNameBytes) continue;
        yield batch;
        batch = emptyBatch();
      }
  } catch (error) {
    yield batch;
    throw error;
  }
  yield batch;
}

/** Points of one request: they fill one stored chunk, and the service takes up to 10,000. */
const maxPoints = 7500;

/** Maximum bytes of the names in one request, which takes 4.4 MB. */
const maxNameBytes = 2_000_000;

interface Draft extends PointBatch {
  nameBytes: number;
  /** Series by their names at the source, and by those here: two may be one here. */
  byKey: Map<string, Series>;
  byName: Map<string, Series>;
}

const emptyBatch = (): Draft => ({
  series: [],
  points: 0,
  last: 0,
  nameBytes: 0,
  byKey: new Map(),
  byName: new Map(),
});

const beyondMetrics = `points of metrics beyond ${maxMetricNames}, or of names beyond 1 MB, of a run: left out`;

function seriesFor(
  batch: Draft,
  key: string,
  nameOf: (key: string) => string | undefined,
): Series | undefined {
  const known = batch.byKey.get(key);
  if (known !== undefined) return known;
  const name = nameOf(key);
  if (name === undefined) return undefined;
  const series = batch.byName.get(name) ?? { key: name, steps: [], timestamps: [], values: [] };
  if (!batch.byName.has(name)) batch.series.push(series);
  batch.byKey.set(key, series);
  batch.byName.set(name, series);
  batch.nameBytes += Buffer.byteLength(name) + seriesBytes;
  return series;
}

/** Bytes of a series in JSON besides its name and its numbers. */
const seriesBytes = 60;

/** Return the time here of a point; undefined for a point without a whole step, which is left out. */
function fitTime({ step, timestamp }: SourcePoint, note: (reason: string) => void): number | undefined {
  if (!Number.isSafeInteger(step)) {
    note('points whose step is no whole number below 2^53: left out');
    return undefined;
  }
  const fitted = timeOf(timestamp);
  if (fitted !== undefined) return fitted;
  note(`times ${timeRange}: the nearest one here`);
  return Math.min(latest, Math.max(0, Math.round(timestamp) || 0));
}

/** Return a time that this service takes. Clocks of some machines begin in 1970 or before. */
export const timeOf = (time: number | undefined): number | undefined =>
  time !== undefined && Number.isInteger(time) && time >= 0 && time <= latest ? time : undefined;

export const timeRange = 'before 1970 or after 9999';
