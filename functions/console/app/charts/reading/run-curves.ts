import { useEffect, useRef, useState } from 'preact/hooks';
import { inLanes } from '../../../../../shared/core/in-lanes.ts';
import { noteReach, poll, wake } from '../../api/poller.ts';
import { isExpired, signInCount } from '../../api/session.ts';
import type { Curve } from './curve.ts';
import type { Drawable } from './drawable.ts';
import type { PointFeed } from './point-feed.ts';
import { CurveReader } from './points.ts';

const liveMilliseconds = 2_000;
/** Number of runs that are read at the same time. */
const lanes = 4;
/** Maximum number of points of a feed before the curves are read again, thinned. */
const maxFed = 50_000;

/** Curves of runs, as far as they are read. */
export interface RunCurves {
  /** Grows with each change of a curve. */
  version: number;
  isLoaded: boolean;
  error: unknown;
  curve(id: string, metric: string): Curve | undefined;
  /** Names of the metrics that were read. A run may have reported one since its summary was loaded. */
  names(): string[];
  /** Read a metric's curves, because its chart has come into view. */
  want(metric: string): void;
  /** Whether a wanted metric's curves have been read. */
  hasRead(metric: string): boolean;
  /** Read a metric's curves between two steps, for the runs with thinned curves. */
  readRange(name: string, from: number, to: number, signal: AbortSignal): Promise<ReadonlyMap<string, Curve>>;
}

const pointsOf = ({ metrics }: Drawable): number =>
  Object.values(metrics).reduce((sum, { count }) => sum + count, 0);

/**
 * Read the curves of runs. Those of running ones grow: by the feed of the only run, or else they are read on, one run after the
 * other, once their summaries have new points.
 */
export function useRunCurves(runs: readonly Drawable[], feed?: PointFeed): RunCurves {
  const [version, setVersion] = useState(0);
  const [error, setError] = useState<unknown>();
  const [isLoaded, setLoaded] = useState(false);
  const readers = useRef(new Map<string, CurveReader>());
  const wanted = useRef(new Set<string>());
  const done = useRef(new Set<string>());
  /** Number of the points of each run when it was read last. */
  const counts = useRef(new Map<string, number>());
  const load = useRef<() => Promise<void>>(undefined);
  const wantTimer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const frame = useRef<number>(undefined);
  const latest = useRef(runs);
  latest.current = runs;
  // Read a run's curves once more when it has ended.
  const key = runs.map(({ experiment_id, isLive }) => `${experiment_id}${isLive ? '+' : ''}`).join();
  const signIns = signInCount.value;

  /** Draw again at the next frame, once for all the curves that arrive until then. */
  const redraw = () => {
    frame.current ??= requestAnimationFrame(() => {
      frame.current = undefined;
      setVersion((before) => before + 1);
    });
  };

  useEffect(() => {
    const aborter = new AbortController();
    let hasFailed = false;
    let fed = 0;
    const readerOf = ({ project_id, experiment_id }: Drawable): CurveReader => {
      const present = readers.current.get(experiment_id);
      if (present !== undefined) return present;
      const curveReader = new CurveReader({ project_id, experiment_id });
      readers.current.set(experiment_id, curveReader);
      return curveReader;
    };
    const read = async (run: Drawable): Promise<void> => {
      counts.current.set(run.experiment_id, pointsOf(run));
      const reader = readerOf(run);
      // What the feed brings from now on is not read again.
      const hasBegun = feed?.hasBegun === true;
      if (await reader.read(run.metrics, wanted.current, aborter.signal)) redraw();
      reader.isFed = hasBegun;
    };
    let isBusy = false;
    let isAgain = false;
    const loadAll = async () => {
      if (isBusy) {
        isAgain = true;
        return;
      }
      isBusy = true;
      try {
        do {
          isAgain = false;
          const names = [...wanted.current];
          await inLanes(latest.current, lanes, read);
          for (const name of names) done.current.add(name);
          redraw();
        } while (isAgain);
        noteReach();
        hasFailed = false;
        setLoaded(true);
        setError(undefined);
      } catch (failure) {
        if (aborter.signal.aborted) return;
        noteReach(failure);
        hasFailed = true;
        setError(failure);
        wake();
      } finally {
        isBusy = false;
      }
    };
    load.current = loadAll;
    void loadAll();
    /** The run that has waited longest for a read of its new points. */
    const grown = () => {
      if (feed !== undefined) return undefined;
      const found = latest.current.filter(
        (run) => run.isLive && counts.current.get(run.experiment_id) !== pointsOf(run),
      );
      const order = [...counts.current.keys()];
      return found.sort((a, b) => order.indexOf(a.experiment_id) - order.indexOf(b.experiment_id))[0];
    };
    const end = poll({
      async run() {
        if (hasFailed) return loadAll();
        const one = grown();
        if (one === undefined) return;
        counts.current.delete(one.experiment_id);
        await read(one);
      },
      every: () => (isExpired.value || (grown() === undefined && !hasFailed) ? undefined : liveMilliseconds),
    });
    const leave = feed?.subscribe((points, isFirst) => {
      fed += points.length;
      for (const reader of readers.current.values()) reader.take(points);
      const isAnew = isFirst && [...readers.current.values()].some(({ isFed }) => isFed);
      if (isAnew || fed > maxFed) readers.current.clear();
      if (isFirst || fed > maxFed) {
        fed = 0;
        void loadAll();
      } else if (points.length > 0) redraw();
    });
    return () => {
      aborter.abort();
      end();
      leave?.();
    };
  }, [key, signIns, feed]);
  // Summaries with new points begin a read.
  const total = runs.reduce((sum, run) => sum + pointsOf(run), 0);
  useEffect(wake, [total]);

  useEffect(
    () => () => {
      clearTimeout(wantTimer.current);
      if (frame.current !== undefined) cancelAnimationFrame(frame.current);
    },
    [],
  );

  return {
    version,
    isLoaded,
    error,
    curve: (id, metric) => readers.current.get(id)?.curves.get(metric),
    names: () =>
      latest.current.flatMap(({ experiment_id }) => [
        ...(readers.current.get(experiment_id)?.curves.keys() ?? []),
      ]),
    want(metric) {
      if (wanted.current.has(metric)) return;
      wanted.current.add(metric);
      // The charts that come into view together are read together.
      clearTimeout(wantTimer.current);
      wantTimer.current = setTimeout(() => void load.current?.(), 0);
    },
    hasRead: (metric) => done.current.has(metric),
    async readRange(name, from, to, signal) {
      const found = new Map<string, Curve>();
      const thinned = [...readers.current].filter(
        ([, { curves }]) => curves.get(name)?.reported !== undefined,
      );
      await inLanes(thinned, lanes, async ([id, reader]) => {
        const curve = await reader.readRange(name, from, to, signal);
        if (curve !== undefined) found.set(id, curve);
      });
      return found;
    },
  };
}
