import { useEffect, useRef, useState } from 'preact/hooks';
import { inLanes } from '../../../../../shared/core/in-lanes.ts';
import { noteReach, poll, wake } from '../../api/poller.ts';
import { isExpired, signInCount } from '../../api/session.ts';
import type { Curve } from './curve.ts';
import type { Drawable } from './drawable.ts';
import { LivePoints } from './live-points.ts';
import type { PointFeed } from './point-feed.ts';
import { CurveReader } from './points.ts';

const againMilliseconds = 2_000;
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
  /** Whether a wanted metric's curves have been read, of all runs. */
  hasRead(metric: string): boolean;
  /** Read a metric's curves between two steps, for the runs with thinned curves. */
  readRange(name: string, from: number, to: number, signal: AbortSignal): Promise<ReadonlyMap<string, Curve>>;
}

const readOf = ({ experiment_id }: Drawable, metric: string): string => `${experiment_id} ${metric}`;

/** Read the curves of runs. Those of running ones grow: by the feed of the only run, or by requests that follow all of them. */
export function useRunCurves(runs: readonly Drawable[], feed?: PointFeed): RunCurves {
  const [version, setVersion] = useState(0);
  const [error, setError] = useState<unknown>();
  const [isLoaded, setLoaded] = useState(false);
  const readers = useRef(new Map<string, CurveReader>());
  const wanted = useRef(new Set<string>());
  /** Runs with the metrics that were read of them. */
  const done = useRef(new Set<string>());
  /** Runs whose followed points have a gap, so that they have to be read anew. */
  const lost = useRef(new Set<string>());
  /** Readers that take the places of others once they have read. */
  const renewed = useRef(new Map<string, CurveReader>());
  const live = useRef<LivePoints>(undefined);
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
    const read = async (run: Drawable): Promise<void> => {
      const { project_id, experiment_id: id } = run;
      const present = readers.current.get(id);
      // One that was followed until now is read anew. Its lines stay meanwhile.
      const isLost = lost.current.has(id) || (feed === undefined && !run.isLive);
      const isAnew = present?.isFed === true && isLost;
      const reader =
        isAnew || present === undefined ? new CurveReader({ project_id, experiment_id: id }) : present;
      if (present === undefined) readers.current.set(id, reader);
      if (isAnew) renewed.current.set(id, reader);
      // What the feed brings from now on is not read again.
      const hasBegun = feed?.hasBegun === true || (run.isLive && live.current?.hasBegun(id) === true);
      const hasGrown = await reader.read(run.metrics, wanted.current, aborter.signal);
      reader.isFed = hasBegun;
      if (isAnew) {
        readers.current.set(id, reader);
        renewed.current.delete(id);
        lost.current.delete(id);
      }
      if (isAnew || hasGrown) redraw();
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
          const present = latest.current;
          await inLanes(present, lanes, read);
          for (const run of present) for (const name of names) done.current.add(readOf(run, name));
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
    const end = poll({
      run: loadAll,
      every: () => (isExpired.value || !hasFailed ? undefined : againMilliseconds),
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
  useEffect(() => {
    if (feed !== undefined) return;
    let fed = 0;
    const followed = new LivePoints((points, ids, isFirst) => {
      const byRun = Map.groupBy(points, ({ experiment_id }) => experiment_id);
      for (const [id, some] of byRun)
        for (const { current } of [readers, renewed]) current.get(id)?.take(some);
      fed += points.length;
      if (isFirst || fed > maxFed) {
        fed = 0;
        for (const id of ids) if (readers.current.get(id)?.isFed === true) lost.current.add(id);
        void load.current?.();
      } else if (points.length > 0) redraw();
    });
    live.current = followed;
    return () => {
      followed.end();
      live.current = undefined;
    };
  }, [feed, signIns]);
  useEffect(() => live.current?.follow(latest.current), [key, feed, signIns]);

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
    hasRead: (metric) => latest.current.every((run) => done.current.has(readOf(run, metric))),
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
