import { useEffect, useRef, useState } from 'preact/hooks';
import { noteReach } from '../api/poller.ts';
import type { Curve } from './curve.ts';

interface Finer {
  from: number;
  to: number;
  curves: ReadonlyMap<string, Curve>;
}

/** Keys that are held down zoom many times a second. */
const restMilliseconds = 200;

/**
 * What the service has of curves between two steps, once somebody has zoomed in on curves that it thinned out. Undefined
 * where the curves on the page are all there is, and until they are read.
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
  // Points without a step are in no range of steps.
  const isThinned = curves.some(({ curve }) => curve.reported !== undefined && !curve.steps.includes(null));
  useEffect(() => {
    if (!isThinned || low === undefined || high === undefined) return setFiner(undefined);
    const aborter = new AbortController();
    // A little more, so that lines reach the edges.
    const margin = (high - low) / 10;
    const [from, to] = [low - margin, high + margin];
    const timer = setTimeout(async () => {
      try {
        setFiner({ from, to, curves: await latest.current(from, to, aborter.signal) });
      } catch (failure) {
        // The coarse curves stay.
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
