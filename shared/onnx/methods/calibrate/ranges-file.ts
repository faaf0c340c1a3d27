import { readFileSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import type { CalibrationRanges } from './ranges.ts';

/** Write ranges for the stage that quantizes. */
export function writeRanges(path: string, ranges: CalibrationRanges): void {
  const finite = [...ranges].filter(([, { min, max }]) => Number.isFinite(min) && Number.isFinite(max));
  writeFileSync(path, JSON.stringify(finite));
}

/** Names and ranges. Infinity and NaN, which JSON cannot hold, do not occur: such activations have no range. */
const RangesFile = z.array(z.tuple([z.string(), z.object({ min: z.number(), max: z.number() })]));

export const readRanges = (path: string): CalibrationRanges =>
  new Map(RangesFile.parse(JSON.parse(readFileSync(path, 'utf8'))));
