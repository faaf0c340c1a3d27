import { useEffect, useRef, useState } from 'preact/hooks';
import { noteReach } from '../../api/poller.ts';
import type { Curve } from './curve.ts';

interface Finer {
  from: number;
  to: number;
  curves: ReadonlyMap<string, Curve>;
}

/** Delay in milliseconds before a request, because a held key zooms many times a second. */
const restMilliseconds = 200;

/**
 * Load curves between two steps in finer detail after a zoom into thinned curves. Return undefined if the page
 * already has all points, or until they are loaded.
 */
export function useFiner(
  curves: readonly { curve: Curve }[],
  range: readonly [number, number] | undefined,
  read: (from: number, to: number, signal: AbortSignal) => Promise<ReadonlyMap<string, Curve>>,
): ReadonlyMap<string, Curve> | undefined {
  const [finer, setFiner] = useState<Finer>();
  const latest = useRef(read);
  latest.current = read;
  const [low, high] = range ?? [];
  // A range of steps does not contain points without a step.
  const isThinned = curves.some(({ curve }) => curve.reported !== undefined && !curve.steps.includes(null));
  useEffect(() => {
    if (!isThinned || low === undefined || high === undefined) return setFiner(undefined);
    const aborter = new AbortController();
    // Load a margin, so lines reach the edges.
    const margin = (high - low) / 10;
    const [from, to] = [low - margin, high + margin];
    const timer = setTimeout(async () => {
      try {
        setFiner({ from, to, curves: await latest.current(from, to, aborter.signal) });
      } catch (failure) {
        // Keep the coarse curves.
        if (!aborter.signal.aborted) noteReach(failure);
      }
    }, restMilliseconds);
    return () => {
      clearTimeout(timer);
      aborter.abort();
    };
  }, [isThinned, low, high]);
  const holds =
    finer !== undefined && low !== undefined && high !== undefined && finer.from <= low && high <= finer.to;
  return holds ? finer.curves : undefined;
}
