import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { noteReach, poll, wake } from './poller.ts';
import { isExpired, isWithheld, signInCount } from './session.ts';

/** What is loaded and kept fresh. */
export interface Live<T> {
  data: T | undefined;
  /** Why the last look failed; older data may still be there. */
  error: unknown;
  isLoading: boolean;
  refresh(): Promise<void>;
  /** Put what a change has answered in the place of the data. */
  set(data: T): void;
}

export interface Refreshing<T> {
  /** Milliseconds to the next look at such data; undefined for not again. */
  every?: (data: T) => number | undefined;
  /** Show at once what was loaded before under the key, until it is loaded again. */
  isKept?: boolean;
}

/** What was loaded last under some keys, by the sign-in that loaded it. */
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

/** Load data when `key` changes, and again while `every` says so. Late answers to an old key are dropped. */
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

  /** New data may be such as are looked at again, though the former were not. */
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
      // What may no longer be seen leaves the page; everything else stays until the service answers again.
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
        // What could not be loaded at all is tried again, in case the service was away.
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
