import * as z from 'zod';
import { isSystemMetric } from '../../metrics/system-metric.ts';
import { maxMetricNames, metricNamesMaxBytes } from '../experiments/tracking-rules.ts';
import { Bytes, recordType } from '../table/record.ts';
import type { Item, Key, Page, TableReader, Write } from '../table/table.ts';
import {
  type MetricPoint,
  type MetricSummary,
  packSummaries,
  unpackSummaries,
  withPoint,
} from './metric-summary.ts';

const metrics = recordType('experiment-metrics', () =>
  z.object({
    /** Summaries by name, packed by `metric-summary.ts`. */
    packed: Bytes,
    /** Number of the next chunk of a client's points. Only the first part uses it. */
    next_chunk: z.number().int(),
    version: z.number().int(),
  }),
);

/** Maximum metric names in a part, and maximum bytes of these names. A part is one item, which takes 400 KB. */
const partNames = 1000;
const partBytes = 150_000;

/** Maximum metrics of an experiment that keep a sparkline. Each write has those of its part, with up to 200 bytes each. */
export const maxSparklines = 16;

/** Part of an experiment's metrics. Most experiments have one part. */
interface Part {
  summaries: ReadonlyMap<string, MetricSummary>;
  next_chunk: number;
  version: number;
}

/** Summaries of an experiment's metrics at the time of the read. */
export type MetricParts = readonly Part[];

const metricsMark = 'METRICS#';
const partKey = (project_id: string, experiment_id: string, index: number): Key => ({
  pk: trackingPartition(project_id),
  sk: `${trackingPrefix(experiment_id)}${metricsMark}${String(index).padStart(2, '0')}`,
});

/** Return the key of the first part. Most experiments have no other part. */
export const firstPartKey = (project_id: string, experiment_id: string): Key =>
  partKey(project_id, experiment_id, 0);

/**
 * Maximum items whose written summaries a process caches. A client that logs to a run reads the summaries that it
 * has just written.
 */
const maxKept = 64;
const kept = new Map<string, { packed: Uint8Array; summaries: ReadonlyMap<string, MetricSummary> }>();

const keptKey = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

function keep(key: Key, packed: Uint8Array, summaries: ReadonlyMap<string, MetricSummary>): void {
  const name = keptKey(key);
  kept.delete(name);
  kept.set(name, { packed, summaries });
  const [oldest] = kept.keys();
  if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
}

function unpacked(item: Item, packed: Uint8Array): ReadonlyMap<string, MetricSummary> {
  const known = kept.get(keptKey(item));
  // Equal bytes have equal summaries, even if another process wrote them.
  return known !== undefined && Buffer.compare(known.packed, packed) === 0
    ? known.summaries
    : unpackSummaries(packed);
}

/** Parse a part from a stored item. */
export function parseMetricPart(item: Item): Part {
  const { packed, next_chunk, version } = metrics.parse(item);
  return { summaries: unpacked(item, packed), next_chunk, version };
}

export async function readMetricParts(
  records: TableReader<'records'>,
  project_id: string,
  experiment_id: string,
): Promise<MetricParts> {
  const { pk, sk } = partKey(project_id, experiment_id, 0);
  // A read by key shares a request with others; a query does not.
  const item = await records.get({ pk, sk });
  if (item === undefined) return [];
  const parts = [parseMetricPart(item)];
  if (!parts.some(mayContinue)) return parts;
  for (let after: string | undefined = sk; after !== undefined; ) {
    const page: Page<Item> = await records.query({ pk, prefix: sk.slice(0, -2), after });
    parts.push(...page.items.map(parseMetricPart));
    after = page.next;
  }
  return parts;
}

export const allSummaries = (parts: MetricParts): Map<string, MetricSummary> =>
  new Map(parts.flatMap(({ summaries }) => [...summaries]));

const bytesOf = (names: Iterable<string>): number => {
  let bytes = 0;
  for (const name of names) bytes += Buffer.byteLength(name);
  return bytes;
};

/** Maximum bytes of a name of 250 characters. */
const nameBytes = 1000;

/** Whether another part may follow this one. */
export const mayContinue = ({ summaries }: Pick<Part, 'summaries'>): boolean =>
  summaries.size >= partNames || bytesOf(summaries.keys()) + nameBytes > partBytes;

interface MorePoints {
  parts: MetricParts;
  /** Indexes of the changed parts. */
  changed: ReadonlySet<number>;
  /** Whether new names were added. */
  hasNew: boolean;
  /** Names that did not fit. Their points are not summarized. */
  omitted: ReadonlySet<string>;
}

/** Add points to the parts. New names go into the last part, or into a new part if it is full. */
export function withPoints(parts: MetricParts, points: readonly MetricPoint[]): MorePoints {
  const drafts = parts.map(({ summaries }) => new Map(summaries));
  const home = new Map(
    drafts.flatMap((summaries, index) => [...summaries.keys()].map((name) => [name, index])),
  );
  const known = home.size;
  let lastBytes = bytesOf(drafts.at(-1)?.keys() ?? []);
  let allBytes = bytesOf(home.keys());
  let sparklines = drafts.flatMap((some) =>
    [...some.values()].filter((one) => one.sparkline !== undefined),
  ).length;
  const changed = new Set<number>();
  const omitted = new Set<string>();
  for (const point of points) {
    let index = home.get(point.name);
    if (index === undefined) {
      const bytes = Buffer.byteLength(point.name);
      if (home.size === maxMetricNames || allBytes + bytes > metricNamesMaxBytes) {
        omitted.add(point.name);
        continue;
      }
      const last = drafts.at(-1);
      if (last === undefined || last.size === partNames || lastBytes + bytes > partBytes) {
        drafts.push(new Map());
        lastBytes = 0;
      }
      index = drafts.length - 1;
      home.set(point.name, index);
      lastBytes += bytes;
      allBytes += bytes;
    }
    const summaries = drafts[index];
    const before = summaries?.get(point.name);
    const isNew = before === undefined && sparklines < maxSparklines && !isSystemMetric(point.name);
    if (isNew) sparklines += 1;
    summaries?.set(point.name, withPoint(before, point, isNew));
    changed.add(index);
  }
  return {
    parts: drafts.map((summaries, index) => {
      const { next_chunk = 0, version = 0 } = parts[index] ?? {};
      return { summaries, next_chunk, version: changed.has(index) ? version + 1 : version };
    }),
    changed,
    hasNew: home.size > known,
    omitted,
  };
}

/**
 * Build the write of one part. @param previous part that it replaces, if the write must check that the part is
 * unchanged
 */
export const putMetricPart = (
  project_id: string,
  experiment_id: string,
  index: number,
  { summaries, next_chunk, version }: Part,
  previous?: { part: Part | undefined },
): Write => {
  const key = partKey(project_id, experiment_id, index);
  const packed = packSummaries(summaries);
  keep(key, packed, summaries);
  return {
    put: metrics.item(key, { packed, next_chunk, version }),
    ...(previous !== undefined && {
      if: previous.part === undefined ? { exists: false } : { equals: { version: previous.part.version } },
    }),
  };
};

/**
 * Return the partition of the tracking data of a project's experiments: the data for search and comparison that
 * their own records do not hold. They are separate, because a running job writes its record often. They are sorted
 * by experiment, so one query reads a page of experiments.
 */
export const trackingPartition = (project_id: string): string => `TRACKING#${project_id}`;

/** Return the prefix of the sort keys of one experiment. */
export const trackingPrefix = (experiment_id: string): string => `${experiment_id}#`;
