import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CalibrationRanges } from './ranges.ts';
import { readRanges, writeRanges } from './ranges-file.ts';
import type { CalibrationStatistics } from './statistics-file.ts';
import { readStatistics } from './statistics-file.ts';

/** Calibration results for a model's activations. */
export interface Observations {
  ranges: CalibrationRanges;
  statistics: CalibrationStatistics;
}

export const noObservations: Observations = { ranges: new Map(), statistics: new Map() };

/** Write ranges into the folder of observations. `collectStatistics` writes its statistics there, too. */
export const putRanges = (folder: string, ranges: CalibrationRanges): void =>
  writeRanges(rangesIn(folder), ranges);

const rangesIn = (folder: string): string => join(folder, 'ranges.json');

/** Read the observations in a folder. Empty if there is no folder. */
export function readObservations(folder: string | null): Observations {
  if (folder === null) return noObservations;
  const ranges = rangesIn(folder);
  return {
    ranges: existsSync(ranges) ? readRanges(ranges) : new Map(),
    statistics: readStatistics(folder),
  };
}
