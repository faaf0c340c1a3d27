import { useEffect, useRef, useState } from 'preact/hooks';
import { ProblemError } from '../../../../shared/client/problem-error.ts';
import { noteReach } from '../api/poller.ts';
import { type Sweep, type TrialRow, trialsPage } from '../api/sweeps.ts';

export interface Trials {
  /** Repeats of trials in the order in which they began. Their number grows until all are loaded. */
  rows: readonly TrialRow[];
  isComplete: boolean;
  error: unknown;
}

const firstPage = 60;
const otherPages = 500;

/** Part of the rows: the cursor that it was read from, and its rows. */
interface Part {
  from: string | undefined;
  rows: readonly TrialRow[];
}

/**
 * Load the trials of a sweep: the first rows at once, then the others. Once the sweep has changed, read again only the
 * parts with rows that had not ended, and the last.
 */
export function useTrials(sweep: Sweep): Trials {
  const { project_id, sweep_id, updated_at, counts } = sweep;
  const parts = useRef<Part[]>([]);
  const isWhole = useRef(false);
  const [state, setState] = useState<Trials>({ rows: [], isComplete: false, error: undefined });
  // A running trial reports values between the changes of its sweep.
  const look = counts.running > 0 ? sweep : updated_at;

  useEffect(() => {
    let isGone = false;
    const show = (error?: unknown): void => {
      if (isGone) return;
      const rows = parts.current.flatMap((part) => part.rows);
      setState({ rows, isComplete: isWhole.current, error });
    };
    const read = async (from: string | undefined, isFirst: boolean) => {
      const { rows, next } = await trialsPage(
        { project_id, sweep_id },
        isFirst && parts.current.length === 0 ? firstPage : otherPages,
        from,
      );
      // The cursor contains the first page's limit. Replace it, because the other pages are larger.
      return { rows, next: next?.replace(`limit=${firstPage}`, `limit=${otherPages}`) };
    };
    const load = async (): Promise<void> => {
      const known = parts.current;
      const open = known.reduce(
        (sum, { rows }) => sum + rows.filter(({ outcome }) => outcome === null).length,
        0,
      );
      const isReset = known.length === 0 || hasBegunAgain(known, counts.failed);
      if (isReset) [parts.current, isWhole.current] = [[], false];
      else if (open > 0)
        for (const [index, part] of known.entries())
          if (index < known.length - 1 && part.rows.some(({ outcome }) => outcome === null)) {
            const { rows } = await read(part.from, false);
            if (isGone) return;
            known[index] = { ...part, rows: rows.slice(0, part.rows.length) };
          }
      let from = isReset ? undefined : known.at(-1)?.from;
      for (let index = isReset ? 0 : known.length - 1; ; index += 1) {
        const { rows, next } = await read(from, index === 0);
        if (isGone) return;
        parts.current[index] = { from, rows };
        if (next === undefined || rows.length === 0) break;
        show();
        from = next;
      }
      noteReach();
      isWhole.current = true;
      show();
    };
    load().catch((error: unknown) => {
      if (isGone) return;
      noteReach(error);
      // The service no longer knows the cursor, so start from the beginning.
      if (error instanceof ProblemError && error.status === 400) parts.current = [];
      show(error);
    });
    return () => {
      isGone = true;
    };
  }, [project_id, sweep_id, look]);

  return state;
}

/** Whether failed runs were begun once more: the sweep has fewer of them than these rows say. */
const hasBegunAgain = (parts: readonly Part[], failed: number): boolean =>
  parts.reduce((sum, { rows }) => sum + rows.filter(({ outcome }) => outcome === 'failed').length, 0) >
  failed;
