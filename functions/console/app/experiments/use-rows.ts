import { useEffect, useRef, useState } from 'preact/hooks';
import { ProblemError } from '../../../../shared/client/problem-error.ts';
import { follow } from '../api/follow.ts';
import { noteReach, poll, wake } from '../api/poller.ts';
import { experimentsById, experimentsPage, liveExperiments, maxById } from '../api/projects.ts';
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

const firstPage = 60;
const otherPages = 500;
const againMilliseconds = 4_000;
/** Maximum number of older running experiments that are followed with the newest ones. */
const maxOthers = 50;

/**
 * Load all experiments of a project: the first rows at once, then the others. Follow the newest and the running ones.
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
  const refresh = async (): Promise<void> => {
    const newest = await readNewest();
    show({ ...latest.current, rows: withNewest(latest.current.rows, newest), error: undefined });
  };

  useEffect(() => {
    let isGone = false;
    let next = keptRows(project_id, signIns)?.next;
    const fail = (error: unknown): void => {
      if (isGone) return;
      noteReach(error);
      if (isWithheld(error)) {
        forgetRows(project_id);
        show({ rows: [], isComplete: false, error });
      } else show({ ...latest.current, error });
      wake();
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
    let unfollow = () => {};
    const begin = async (): Promise<void> => {
      if (latest.current.rows.length === 0) await load();
      if (isGone) return;
      unfollow = follow({
        ask(after, signal) {
          const below = latest.current.rows.slice(firstPage).filter(({ status }) => !isFinal(status));
          const ids = below.slice(0, maxOthers).map(({ experiment_id }) => experiment_id);
          return liveExperiments(project_id, ids, after, signal);
        },
        take({ experiments, more, others, gone }) {
          if (isGone || (experiments === null && latest.current.error === undefined)) return;
          const newest = { rows: experiments?.map(rowOf) ?? [], isAll: !more };
          const known = experiments === null ? latest.current.rows : withNewest(latest.current.rows, newest);
          const asked = [...others.map(({ experiment_id }) => experiment_id), ...gone];
          const error = latest.current.isComplete ? undefined : latest.current.error;
          show({ ...latest.current, rows: withAgain(known, asked, others.map(rowOf)), error });
        },
        fail(error) {
          if (isWithheld(error)) fail(error);
        },
      });
      if (!latest.current.isComplete) await load();
    };
    void begin();
    // A load that failed goes on.
    const end = poll({
      run: load,
      every() {
        const { isComplete, error } = latest.current;
        return isExpired.value || isComplete || error === undefined ? undefined : againMilliseconds;
      },
    });
    return () => {
      isGone = true;
      end();
      unfollow();
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
