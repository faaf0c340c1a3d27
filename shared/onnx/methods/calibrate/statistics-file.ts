import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CalibrationStatistics, InputStatistics } from './input-statistics.ts';

const indexName = 'statistics.json';

interface Entry {
  name: string;
  channels: number;
  rows: number;
  mean: number[];
  largest: number[];
  /** Name of the file of the second moment, float64. */
  moment: string | null;
}

const readIndex = (folder: string): Entry[] => {
  const path = join(folder, indexName);
  // Written by the stage that observed them, a moment ago.
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Entry[]) : [];
};

/** Adds statistics to those in a folder. Second moments have files of their own: there may be gigabytes of them. */
export function writeStatistics(folder: string, statistics: CalibrationStatistics): void {
  const entries = readIndex(folder);
  for (const [name, { channels, rows, mean, largest, moment }] of statistics) {
    const values = moment();
    const file = values === undefined ? null : `moment-${entries.length}.f64`;
    if (values !== undefined && file !== null) {
      writeFileSync(join(folder, file), new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    }
    entries.push({ name, channels, rows, mean: [...mean], largest: [...largest], moment: file });
  }
  writeFileSync(join(folder, indexName), JSON.stringify(entries));
}

/** The statistics in a folder; none where nothing was written. */
export function readStatistics(folder: string): CalibrationStatistics {
  return new Map(
    readIndex(folder).map(({ name, moment, mean, largest, ...counts }): [string, InputStatistics] => [
      name,
      {
        ...counts,
        mean: Float64Array.from(mean),
        largest: Float64Array.from(largest),
        moment() {
          if (moment === null) return undefined;
          const bytes = new Uint8Array(readFileSync(join(folder, moment)));
          return new Float64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 8);
        },
      },
    ]),
  );
}
