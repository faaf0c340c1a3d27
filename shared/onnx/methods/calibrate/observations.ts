import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CalibrationRanges } from './ranges.ts';
import { readRanges, writeRanges } from './ranges-file.ts';
import type { CalibrationStatistics } from './statistics-file.ts';
import { readStatistics } from './statistics-file.ts';

/** What calibration observed of a model's activations. */
export interface Observations {
  ranges: CalibrationRanges;
  statistics: CalibrationStatistics;
}

export const noObservations: Observations = { ranges: new Map(), statistics: new Map() };

/** Leaves ranges in the folder of observations, beside the statistics that `collectStatistics` leaves there. */
export const putRanges = (folder: string, ranges: CalibrationRanges): void =>
  writeRanges(rangesIn(folder), ranges);

const rangesIn = (folder: string): string => join(folder, 'ranges.json');

/** What a folder holds; nothing where there is none. */
export function readObservations(folder: string | null): Observations {
  if (folder === null) return noObservations;
  const ranges = rangesIn(folder);
  return {
    ranges: existsSync(ranges) ? readRanges(ranges) : new Map(),
    statistics: readStatistics(folder),
  };
}
