import { useEffect, useRef, useState } from 'preact/hooks';
import { noteReach, poll } from '../api/poller.ts';
import { byIdMost, experimentsById, experimentsPage } from '../api/projects.ts';
import { isExpired, isWithheld, signInCount } from '../api/session.ts';
import { isFinal } from '../ui/status.tsx';
import { type Row, rowOf } from './row.ts';

export interface Rows {
  /** Newest first; more come until all are there. */
  rows: readonly Row[];
  isComplete: boolean;
  error: unknown;
  refresh(): Promise<void>;
}

const firstPage = 60;
const otherPages = 500;
const liveMilliseconds = 2_000;
const idleMilliseconds = 15_000;

/** All experiments of a project: the first rows at once, the others behind them, and the newest again and again. */
export function useRows(project_id: string): Rows {
  const [state, setState] = useState<Omit<Rows, 'refresh'>>({
    rows: [],
    isComplete: false,
    error: undefined,
  });
  const latest = useRef(state);
  latest.current = state;
  const signIns = signInCount.value;

  /** Take rows that were read again: known ones are replaced where they are, new ones come first. */
  const merge = (fresh: readonly Row[]): void => {
    const byId = new Map(fresh.map((row) => [row.experiment_id, row]));
    const rows = latest.current.rows.map((row) => {
      const changed = byId.get(row.experiment_id);
      byId.delete(row.experiment_id);
      return changed ?? row;
    });
    const added = [...byId.values()].sort((a, b) => (a.experiment_id < b.experiment_id ? 1 : -1));
    setState({ ...latest.current, rows: [...added, ...rows], error: undefined });
  };

  const refresh = async (): Promise<void> => {
    const { rows } = await experimentsPage(project_id, firstPage);
    merge(rows.map(rowOf));
  };

  useEffect(() => {
    let isGone = false;
    let looks = 0;
    const load = async () => {
      const found: Row[] = [];
      let next: string | undefined;
      try {
        do {
          const page = await experimentsPage(project_id, found.length === 0 ? firstPage : otherPages, next);
          if (isGone) return;
          found.push(...page.rows.map(rowOf));
          // The limit of the first page is part of its cursor's query; the others are larger.
          next = page.next?.replace(`limit=${firstPage}`, `limit=${otherPages}`);
          const isComplete = next === undefined;
          latest.current = { rows: found.slice(), isComplete, error: undefined };
          setState(latest.current);
        } while (next !== undefined);
        noteReach();
      } catch (error) {
        if (isGone) return;
        noteReach(error);
        setState({ ...latest.current, error });
      }
    };
    void load();
    const end = poll({
      run: async () => {
        if (latest.current.error !== undefined && !latest.current.isComplete) return load();
        looks += 1;
        const below = latest.current.rows.slice(firstPage).filter(({ status }) => !isFinal(status));
        const ids = below.slice(0, byIdMost).map(({ experiment_id }) => experiment_id);
        // New experiments come first; those that run further down have every third look.
        const isByIds = ids.length > 0 && looks % 3 === 0;
        try {
          const { rows } = await (isByIds
            ? experimentsById(project_id, ids)
            : experimentsPage(project_id, firstPage));
          if (!isGone) merge(rows.map(rowOf));
        } catch (error) {
          if (!isGone && isWithheld(error)) setState({ rows: [], isComplete: false, error });
          throw error;
        }
      },
      every() {
        const { rows, isComplete, error } = latest.current;
        if (isExpired.value) return undefined;
        if (!isComplete) return error === undefined ? idleMilliseconds : 4_000;
        return rows.some(({ status }) => !isFinal(status)) ? liveMilliseconds : idleMilliseconds;
      },
    });
    return () => {
      isGone = true;
      end();
    };
  }, [project_id, signIns]);

  return { ...state, refresh };
}
