import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What calibration showed of a value X, taken as [rows, channels]: rows are tokens, pixels and samples alike. */
export interface InputStatistics {
  channels: number;
  /** Rows that were counted; those with NaN or infinity are not. */
  rows: number;
  /** Mean of each channel. */
  mean: Float64Array;
  /** Largest magnitude of each channel. */
  largest: Float64Array;
  /**
   * XᵀX / rows, channels × channels, row-major and symmetric: half the Hessian of the squared error of a product with X,
   * and with `mean` the covariance. Read anew at each call; undefined where it was not asked for.
   */
  moment(): Float64Array | undefined;
}

/** Statistics by the name of the value. Values that no sample had are missing. */
export type CalibrationStatistics = ReadonlyMap<string, InputStatistics>;

const indexName = 'statistics.json';

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

/** A value whose channels are to be observed, as the input of a layer. */
export interface ObservedInput {
  /** Name of the value. */
  name: string;
  /** Axis of its channels: -1 for matrix products, 1 for convolutions. */
  axis: number;
  /** How many channels it has. Values of another number are refused. */
  channels: number;
  /** Whether the second moment is needed, which takes 8 · channels² bytes; the rest takes next to nothing. */
  hasMoment: boolean;
}
