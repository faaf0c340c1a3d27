import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { noteReach, poll, wake } from './poller.ts';
import { isExpired, isWithheld, signInCount } from './session.ts';

/** Data that a component loads and refreshes. */
export interface Live<T> {
  data: T | undefined;
  /** Error of the last request. Older data may still be available. */
  error: unknown;
  isLoading: boolean;
  refresh(): Promise<void>;
  /** Replace the data with the answer to a change. */
  set(data: T): void;
}

export interface Refreshing<T> {
  /** Milliseconds until the next request for this data; undefined to stop. */
  every?: (data: T) => number | undefined;
  /** Show earlier data of this key at once, until the new data arrives. */
  isKept?: boolean;
}

/** Last data by key, with the number of the sign-in that loaded it. */
const kept = new Map<string, { data: unknown; signIns: number }>();
const maxKept = 40;

function keepLoaded(key: string, data: unknown): void {
  kept.delete(key);
  kept.set(key, { data, signIns: signInCount.value });
  const [oldest] = kept.keys();
  if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
}

function loadedBefore<T>(key: string): { key: string; data?: T } {
  const found = kept.get(key);
  return found?.signIns === signInCount.value ? { key, data: found.data as T } : { key: '' };
}

/** Load data when `key` changes, and reload it as `every` says. Drop late answers to an old key. */
export function useLive<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  { every, isKept = false }: Refreshing<T> = {},
): Live<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: unknown }>(() =>
    isKept ? loadedBefore<T>(key) : { key: '' },
  );
  const latest = useRef({ load, every, isKept, data: state.data, key });
  latest.current = { load, every, isKept, data: state.key === key ? state.data : undefined, key };
  const aborter = useRef(new AbortController());
  const signIns = signInCount.value;

  /** New data may need polling even if the old data did not. */
  const show = useCallback((of: string, data: T): void => {
    latest.current.data = data;
    if (latest.current.isKept) keepLoaded(of, data);
    setState({ key: of, data });
    wake();
  }, []);

  const look = useCallback(async (): Promise<void> => {
    const { signal } = aborter.current;
    const asked = latest.current.key;
    try {
      const data = await latest.current.load(signal);
      if (signal.aborted || latest.current.key !== asked) return;
      noteReach();
      show(asked, data);
    } catch (error) {
      if (signal.aborted || latest.current.key !== asked) return;
      noteReach(error);
      // Remove data that the user may no longer see. Keep other data until the service answers again.
      if (isWithheld(error)) {
        latest.current.data = undefined;
        kept.delete(asked);
      }
      setState((before) =>
        before.key === asked && !isWithheld(error) ? { ...before, error } : { key: asked, error },
      );
      wake();
      throw error;
    }
  }, [show]);

  useEffect(() => {
    aborter.current = new AbortController();
    let isGone = false;
    const end = poll({
      run: look,
      every() {
        if (isGone || isExpired.value) return undefined;
        const { data } = latest.current;
        // Retry a failed first request, in case the service was unreachable.
        return data === undefined ? 4_000 : latest.current.every?.(data);
      },
    });
    look().catch(() => undefined);
    return () => {
      isGone = true;
      end();
      aborter.current.abort();
    };
  }, [key, signIns, look]);

  const isCurrent = state.key === key;
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    isLoading: !isCurrent || (state.data === undefined && state.error === undefined),
    refresh: () => look().catch(() => undefined),
    set: (data) => show(key, data),
  };
}
