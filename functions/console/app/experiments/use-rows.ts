import { useEffect, useRef, useState } from 'preact/hooks';
import { ProblemError } from '../../../../shared/client/problem-error.ts';
import { noteReach, poll } from '../api/poller.ts';
import { experimentsById, experimentsPage, maxById } from '../api/projects.ts';
import { isExpired, isWithheld, signInCount } from '../api/session.ts';
import { type Row, rowOf } from '../runs/row.ts';
import { isFinal } from '../ui/states/status.tsx';
import {
  forgetRows,
  keepRows,
  keptRows,
  type Newest,
  withAgain,
  withNewest,
  withRestored,
} from './kept-rows.ts';

export interface Rows {
  /** Rows, newest first. Their number grows until all are loaded. */
  rows: readonly Row[];
  isComplete: boolean;
  error: unknown;
  refresh(): Promise<void>;
  /** Read rows again, or for the first time after a restore. */
  renew(ids: readonly string[]): Promise<void>;
  /** Leave out rows that were deleted. */
  drop(ids: readonly string[]): void;
}

type State = Pick<Rows, 'rows' | 'isComplete' | 'error'>;
type Merge = (rows: readonly Row[]) => readonly Row[];

const mergeNewest =
  (newest: Newest): Merge =>
  (rows) =>
    withNewest(rows, newest);

const firstPage = 60;
const otherPages = 500;
const liveMilliseconds = 2_000;
const idleMilliseconds = 15_000;

/**
 * Load all experiments of a project: the first rows at once, then the others. Reload the newest ones repeatedly.
 * Show the kept rows to a returning user, and reload only the newest.
 */
export function useRows(project_id: string): Rows {
  const signIns = signInCount.value;
  const [state, setState] = useState<State>(() => {
    const { rows = [], isComplete = false } = keptRows(project_id, signIns) ?? {};
    return { rows, isComplete, error: undefined };
  });
  const latest = useRef(state);
  latest.current = state;
  const show = (next: State): void => {
    latest.current = next;
    setState(next);
  };

  const readNewest = async (): Promise<Newest> => {
    const { rows, next } = await experimentsPage(project_id, firstPage);
    return { rows: rows.map(rowOf), isAll: next === undefined };
  };
  const readAgain = async (ids: readonly string[]): Promise<Merge> => {
    const { rows: again } = await experimentsById(project_id, ids);
    return (rows) => withAgain(rows, ids, again.map(rowOf));
  };
  const refresh = async (): Promise<void> => {
    const newest = await readNewest();
    show({ ...latest.current, rows: withNewest(latest.current.rows, newest), error: undefined });
  };

  useEffect(() => {
    let isGone = false;
    let looks = 0;
    let next = keptRows(project_id, signIns)?.next;
    const fail = (error: unknown): void => {
      if (isGone) return;
      noteReach(error);
      if (isWithheld(error)) {
        forgetRows(project_id);
        show({ rows: [], isComplete: false, error });
      } else show({ ...latest.current, error });
    };
    /** Load the remaining pages. */
    const load = async (): Promise<void> => {
      const ask = () => experimentsPage(project_id, next === undefined ? firstPage : otherPages, next);
      let isFirst = next === undefined;
      try {
        let asked = ask();
        for (;;) {
          const page = await asked;
          if (isGone) return;
          // The cursor contains the first page's limit. Replace it, because the other pages are larger.
          next = page.next?.replace(`limit=${firstPage}`, `limit=${otherPages}`);
          // The service reads the next page while this one is shown.
          if (next !== undefined) asked = ask();
          const fresh = page.rows.map(rowOf);
          const before = latest.current.rows;
          const known = new Set(isFirst ? [] : before.map(({ experiment_id }) => experiment_id));
          const rows = isFirst
            ? fresh
            : [...before, ...fresh.filter(({ experiment_id }) => !known.has(experiment_id))];
          isFirst = false;
          show({ rows, isComplete: next === undefined, error: undefined });
          if (next === undefined) break;
        }
        noteReach();
      } catch (error) {
        // The service no longer knows the cursor, so start from the beginning.
        if (error instanceof ProblemError && error.status === 400) next = undefined;
        fail(error);
      }
    };
    const begin = async (): Promise<void> => {
      if (latest.current.rows.length === 0) return load();
      await refresh().catch(fail);
      if (!isGone && !latest.current.isComplete) await load();
    };
    void begin();
    const end = poll({
      run: async () => {
        if (latest.current.error !== undefined && !latest.current.isComplete) return load();
        looks += 1;
        const below = latest.current.rows.slice(firstPage).filter(({ status }) => !isFinal(status));
        const ids = below.slice(0, maxById).map(({ experiment_id }) => experiment_id);
        // Usually reload the newest experiments. Every third time, reload running ones further down.
        const isByIds = ids.length > 0 && looks % 3 === 0;
        try {
          const merge = isByIds ? await readAgain(ids) : await readNewest().then(mergeNewest);
          if (!isGone) show({ ...latest.current, rows: merge(latest.current.rows), error: undefined });
        } catch (error) {
          if (isWithheld(error)) fail(error);
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
      const { rows, isComplete } = latest.current;
      if (rows.length > 0) keepRows(project_id, { rows, isComplete, next, signIns });
    };
  }, [project_id, signIns]);

  const renew = async (ids: readonly string[]): Promise<void> => {
    for (let at = 0; at < ids.length; at += maxById) {
      const part = ids.slice(at, at + maxById);
      const { rows: again } = await experimentsById(project_id, part);
      const fresh = again.map(rowOf);
      const { rows } = latest.current;
      show({ ...latest.current, rows: withRestored(withAgain(rows, part, fresh), fresh) });
    }
  };
  const drop = (ids: readonly string[]): void => {
    const gone = new Set(ids);
    show({
      ...latest.current,
      rows: latest.current.rows.filter(({ experiment_id }) => !gone.has(experiment_id)),
    });
  };
  return { ...state, refresh, renew, drop };
}
