import { useMemo } from 'preact/hooks';
import { place, setQuery } from '../../ui/router.ts';
import type { Axis } from '../values/axis.ts';
import { type Brush, type Brushes, chosenBy } from './brushes.ts';

/** Return the brushes of the address, and which items they choose. */
export function useBrushes(
  axes: readonly Axis[],
  count: number,
): { brushes: Brushes; chosen: readonly boolean[] } {
  const brushes = brushesNow();
  const text = JSON.stringify([...brushes]);
  const chosen = useMemo(() => chosenBy(axes, brushes, count), [axes, text, count]);
  return { brushes, chosen };
}

const prefix = 'brush.';
const round = (unit: number): number => Number(unit.toPrecision(6));

function brushesNow(): Brushes {
  const found = new Map<string, Brush>();
  for (const [key, text] of place.value.query) {
    if (!key.startsWith(prefix)) continue;
    const [low, high] = text.split('..').map(Number);
    if (low !== undefined && high !== undefined && low <= high)
      found.set(key.slice(prefix.length), [low, high]);
  }
  return found;
}

export const setBrush = (name: string, brush: Brush | undefined): void =>
  setQuery({ [prefix + name]: brush && `${round(brush[0])}..${round(brush[1])}` });

export const clearBrushes = (brushes: Brushes): void =>
  setQuery(Object.fromEntries([...brushes.keys()].map((name) => [prefix + name, undefined])));
