import type { Sweep } from '../api/sweeps.ts';
import { numberText } from '../ui/text/format.ts';

/** Return a mean with its standard deviation, as `0.41 ± 0.02`. */
export const valueText = (value: number | null, deviation: number | null): string =>
  deviation === null || deviation === 0
    ? numberText(value)
    : `${numberText(value)} ± ${numberText(Number(deviation.toPrecision(2)))}`;

/** Return the number of experiments of a sweep that have ended. */
export const endedOf = ({ counts }: Pick<Sweep, 'counts'>): number =>
  counts.complete + counts.stopped_early + counts.failed + counts.cancelled;

/** Whether anything of a sweep runs or is still to begin by itself. */
export const isLive = ({ status, counts }: Pick<Sweep, 'status' | 'counts'>): boolean =>
  status === 'RUNNING' || counts.running > 0;
