import { JsonBytes } from '../../core/text/json-bytes.ts';
import { readRuns } from '../../data/metrics/metric-history.ts';
import type { PointRun } from '../../data/metrics/point-blocks.ts';
import type { TableReader } from '../../data/table/table.ts';
import { positionOfNumber } from '../../experiments/read-points.ts';

/** Bytes of a page, beyond which it takes no further point: in base64 Lambda takes no more than 4.1 MB. */
const pageBytes = 3_900_000;
const firstCapacity = 64_000;

/** Writes points of a metric as MLflow's API shows them. */
class HistoryWriter {
  readonly json = new JsonBytes(firstCapacity);
  readonly #head: Uint8Array;
  #count = 0;

  constructor(name: string) {
    this.#head = Buffer.from(`{"key":${JSON.stringify(name)},"value":`);
    this.json.ascii('{"metrics":[');
  }

  /** Points that were written. */
  get count(): number {
    return this.#count;
  }

  add({ steps, times, values }: PointRun, at: number): void {
    const { json } = this;
    if (this.#count > 0) json.ascii(',');
    this.#count += 1;
    json.raw(this.#head);
    const value = values[at] ?? Number.NaN;
    if (Number.isFinite(value)) json.number(value);
    else json.ascii(`"${value}"`);
    json.ascii(',"timestamp":');
    json.number(times[at] ?? 0);
    json.ascii(',"step":');
    const step = steps[at] ?? Number.NaN;
    json.number(Number.isNaN(step) ? 0 : step);
    json.ascii('}');
  }

  /** The whole page. @param next number of the point behind it */
  end(next?: number): Uint8Array {
    this.json.ascii(next === undefined ? ']}' : `],"next_page_token":"${positionOfNumber(next)}"}`);
    return this.json.bytes();
  }
}

/**
 * A page of the history of a metric as JSON, from the point of a number on. It is written from the columns of the blocks:
 * an object for each of a hundred thousand points takes ten times as long.
 */
export async function historyPage(
  records: TableReader<'records'>,
  experiment_id: string,
  name: string,
  from: number,
  limit: number,
): Promise<Uint8Array> {
  const page = new HistoryWriter(name);
  for await (const { runs } of readRuns(records, experiment_id, new Set([name]), from)) {
    // Runs of one metric follow each other.
    for (const run of runs.toSorted((one, other) => (one.numbers[0] ?? 0) - (other.numbers[0] ?? 0)))
      for (let at = 0; at < run.values.length; at += 1) {
        if (page.count === limit || page.json.length > pageBytes) return page.end(run.numbers[at]);
        page.add(run, at);
      }
  }
  return page.end();
}
