import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Calibration statistics of a value X, viewed as [rows, channels]. Tokens, pixels and samples all count as rows.
 */
export interface InputStatistics {
  channels: number;
  /** Number of counted rows. Rows with NaN or infinity do not count. */
  rows: number;
  /** Mean of each channel. */
  mean: Float64Array;
  /** Largest magnitude of each channel. */
  largest: Float64Array;
  /**
   * Return XᵀX / rows (channels × channels, row-major, symmetric). This is half the Hessian of the squared error
   * of a product with X. Together with `mean` it gives the covariance. Each call reads it from the file again.
   * Undefined if it was not requested.
   */
  moment(): Float64Array | undefined;
}

/** Statistics by the name of the value. A value is missing if no sample had it. */
export type CalibrationStatistics = ReadonlyMap<string, InputStatistics>;

const indexName = 'statistics.json';

/** Add statistics to those in a folder. Second moments have their own files, because they may take gigabytes. */
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
  /** Name of the float64 file with the second moment. */
  moment: string | null;
}

const readIndex = (folder: string): Entry[] => {
  const path = join(folder, indexName);
  // The calibration stage has just written this file, so no validation is needed.
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Entry[]) : [];
};

/** Read the statistics in a folder. Empty if none were written. */
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

/** A value whose channels calibration observes, such as the input of a layer. */
export interface ObservedInput {
  /** Name of the value. */
  name: string;
  /** Type of its values; float32 if absent. */
  type?: 'float16';
  /** Axis of the channels: -1 for matrix products, 1 for convolutions. */
  axis: number;
  /** Number of channels. Values with another number are refused. */
  channels: number;
  /**
   * Whether the second moment is needed. It takes 8 · channels² bytes. The other statistics take almost nothing.
   */
  hasMoment: boolean;
}
