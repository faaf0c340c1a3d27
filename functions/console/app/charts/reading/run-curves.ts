import { useEffect, useRef, useState } from 'preact/hooks';
import { inLanes } from '../../../../../shared/core/in-lanes.ts';
import { noteReach, poll, wake } from '../../api/poller.ts';
import { isExpired, signInCount } from '../../api/session.ts';
import type { Curve } from './curve.ts';
import type { Drawable } from './drawable.ts';
import { CurveReader } from './points.ts';

const liveMilliseconds = 2_000;
/** Number of runs that are read at the same time. */
const lanes = 4;

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

/** Read the curves of runs. Those of running ones grow. */
export function useRunCurves(runs: readonly Drawable[]): RunCurves {
  const [version, setVersion] = useState(0);
  const [error, setError] = useState<unknown>();
  const [isLoaded, setLoaded] = useState(false);
  const readers = useRef(new Map<string, CurveReader>());
  const wanted = useRef(new Set<string>());
  const done = useRef(new Set<string>());
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
    let turn = 0;
    let hasFailed = false;
    const readerOf = ({ project_id, experiment_id }: Drawable): CurveReader => {
      const present = readers.current.get(experiment_id);
      if (present !== undefined) return present;
      const made = new CurveReader({ project_id, experiment_id });
      readers.current.set(experiment_id, made);
      return made;
    };
    const read = async (run: Drawable): Promise<void> => {
      if (await readerOf(run).read(run.metrics, wanted.current, aborter.signal)) redraw();
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
    const live = () => latest.current.filter(({ isLive }) => isLive);
    const end = poll({
      // Read one run each time, in turn.
      async run() {
        if (hasFailed) return loadAll();
        const running = live();
        const one = running[turn % Math.max(1, running.length)];
        turn += 1;
        if (one !== undefined) await read(one);
      },
      every: () => (isExpired.value || (live().length === 0 && !hasFailed) ? undefined : liveMilliseconds),
    });
    return () => {
      aborter.abort();
      end();
    };
  }, [key, signIns]);

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
