import { useEffect, useRef, useState } from 'preact/hooks';
import { ProblemError } from '../../../../shared/client/problem-error.ts';
import { follow } from '../api/follow.ts';
import { noteReach, poll, wake } from '../api/poller.ts';
import { experimentsById, experimentsPage, liveExperiments, maxById } from '../api/projects.ts';
import { isExpired, isWithheld, signInCount } from '../api/session.ts';
import { namesIn } from '../runs/columns.ts';
import type { Row } from '../runs/row.ts';
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
import {
  fieldsOnly,
  fieldsWith,
  type Heavy,
  isHeavy,
  isLoaded,
  type LoadedValues,
  partOfRequest,
  rowFrom,
  withOnly,
  withValues,
} from './loaded-values.ts';

export interface Rows {
  /** Rows, newest first. Their number grows until all are loaded. */
  rows: readonly Row[];
  isComplete: boolean;
  error: unknown;
  /** What the rows of a heavy table have; undefined if they have everything. */
  heavy: Heavy | undefined;
  /** Load these params, tags and metrics of all rows, such as `params.lr`. Light tables have all. */
  want(values: readonly string[]): void;
  /** Return rows with these values, or with all of a group, such as `tags`. */
  complete(rows: readonly Row[], values: readonly string[]): Promise<readonly Row[]>;
  refresh(): Promise<void>;
  /** Read rows again, or for the first time after a restore. */
  renew(ids: readonly string[]): Promise<void>;
  /** Leave out rows that were deleted. */
  drop(ids: readonly string[]): void;
}

type State = Pick<Rows, 'rows' | 'isComplete' | 'error' | 'heavy'>;

const firstPage = 60;
const otherPages = 500;
/** Rows of a page with single values only. */
const valuePages = 1_000;
const againMilliseconds = 4_000;
/** Time in which the table has drawn the first rows, and knows which columns are seen. */
const shownMilliseconds = 50;
/** Maximum number of older running experiments that are followed with the newest ones. */
const maxOthers = 50;

/**
 * Load all experiments of a project: the first rows at once, then the others, of a heavy table only with the values that
 * are wanted. Follow the newest and the running ones. Show the kept rows to a returning user, and reload only the newest.
 * @param total number of the project's experiments
 */
export function useRows(project_id: string, total: number): Rows {
  const signIns = signInCount.value;
  const [state, setState] = useState<State>(() => {
    const { rows = [], isComplete = false, heavy } = keptRows(project_id, signIns) ?? {};
    return { rows, isComplete, error: undefined, heavy };
  });
  const latest = useRef(state);
  latest.current = state;
  const show = (next: State): void => {
    latest.current = next;
    setState(next);
  };
  const needed = useRef<readonly string[]>([]);
  /** What an action wants of all rows. */
  const wantedOnce = useRef<readonly string[]>([]);
  const lackingOf = (values: readonly string[]): string[] =>
    values.filter((value) => !isLoaded(latest.current.heavy?.loaded, value));
  const lacking = (): string[] => lackingOf([...needed.current, ...wantedOnce.current]);
  /** Loads what is lacking; undefined until the table is mounted. */
  const fill = useRef<() => Promise<void>>(undefined);
  const want = (values: readonly string[]): void => {
    needed.current = values;
    if (latest.current.isComplete && lacking().length > 0) void fill.current?.();
  };
  /** Return the fields to ask for; undefined for all of a row. */
  const fields = (): string | undefined => latest.current.heavy && fieldsWith(latest.current.heavy.asked);
  /** Read rows with the values that others have by then. */
  const readWhole = async <A>(read: () => Promise<A>): Promise<A> => {
    for (;;) {
      const before = latest.current.heavy?.asked;
      const answer = await read();
      if (before === latest.current.heavy?.asked) return answer;
    }
  };

  const readNewest = async (): Promise<Newest> => {
    const { rows, next } = await readWhole(() => experimentsPage(project_id, firstPage, undefined, fields()));
    return { rows: rows.map(rowFrom), isAll: next === undefined };
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
        show({ rows: [], isComplete: false, error, heavy: undefined });
      } else show({ ...latest.current, error });
      wake();
    };
    /** Load the remaining pages. */
    const load = async (): Promise<void> => {
      const ask = () =>
        next === undefined
          ? experimentsPage(project_id, firstPage)
          : experimentsPage(project_id, otherPages, next, fields());
      let isFirst = next === undefined;
      try {
        let asked = ask();
        for (;;) {
          const page = await asked;
          if (isGone) return;
          next = page.next;
          let fresh = page.rows.map(rowFrom);
          if (isFirst && next !== undefined && isHeavy(fresh, total)) {
            const names = namesIn(fresh);
            show({ rows: fresh, isComplete: false, error: undefined, heavy: undefined });
            // The table says what it wants once it shows these rows.
            await new Promise((shown) => setTimeout(shown, shownMilliseconds));
            if (isGone) return;
            const values = new Set(partOfRequest(needed.current));
            fresh = fresh.map((row) => withOnly(row, values));
            const heavy = { names, asked: values, loaded: values };
            show({ rows: fresh, isComplete: false, error: undefined, heavy });
          }
          // The service reads the next page while this one is shown.
          if (next !== undefined) asked = ask();
          const { rows: before, heavy } = latest.current;
          const known = new Set(isFirst ? [] : before.map(({ experiment_id }) => experiment_id));
          const rows = isFirst
            ? fresh
            : [...before, ...fresh.filter(({ experiment_id }) => !known.has(experiment_id))];
          isFirst = false;
          show({ rows, isComplete: next === undefined, error: undefined, heavy });
          if (next === undefined) break;
        }
        noteReach();
      } catch (error) {
        // The service no longer knows the cursor, so start from the beginning.
        if (error instanceof ProblemError && error.status === 400) next = undefined;
        fail(error);
      }
      await fill.current?.();
    };
    let filling: Promise<void> | undefined;
    /** Load the values that the rows of a heavy table lack, until none is wanted. */
    const fillAll = async (): Promise<void> => {
      for (let part = partOfRequest(lacking()); part.length > 0; part = partOfRequest(lacking())) {
        const { heavy: before } = latest.current;
        if (before === undefined) return;
        const loaded = new Set([...before.loaded, ...part]);
        // Rows that are read meanwhile have the values, too.
        show({ ...latest.current, heavy: { ...before, asked: loaded } });
        const answers: Row[] = [];
        let after: string | undefined;
        do {
          const page = await experimentsPage(project_id, valuePages, after, fieldsOnly(part));
          if (isGone) return;
          answers.push(...page.rows.map(rowFrom));
          after = page.next;
        } while (after !== undefined);
        const { rows } = latest.current;
        const heavy = { names: before.names, asked: loaded, loaded };
        show({ ...latest.current, rows: withValues(rows, answers), heavy });
      }
    };
    fill.current = async () => {
      if (!latest.current.isComplete) return;
      filling ??= fillAll()
        .catch(fail)
        .finally(() => {
          filling = undefined;
        });
      await filling;
    };
    let unfollow = () => {};
    const begin = async (): Promise<void> => {
      if (latest.current.rows.length === 0) await load();
      if (isGone) return;
      let current: LoadedValues | undefined;
      unfollow = follow({
        ask(after, signal) {
          const below = latest.current.rows.slice(firstPage).filter(({ status }) => !isFinal(status));
          const ids = below.slice(0, maxOthers).map(({ experiment_id }) => experiment_id);
          current = latest.current.heavy?.asked;
          return liveExperiments(project_id, { ids, values: fields() }, after, signal);
        },
        take({ experiments, more, others, gone }) {
          if (isGone || (experiments === null && latest.current.error === undefined)) return;
          const named = [...others.map(({ experiment_id }) => experiment_id), ...gone];
          // Further values were asked for since.
          if (current !== latest.current.heavy?.asked) {
            const ids = [...(experiments ?? []).map(({ experiment_id }) => experiment_id), ...named];
            void renew(ids).catch(fail);
            return;
          }
          const newest = { rows: experiments?.map(rowFrom) ?? [], isAll: !more };
          const known = experiments === null ? latest.current.rows : withNewest(latest.current.rows, newest);
          const error = latest.current.isComplete ? undefined : latest.current.error;
          show({ ...latest.current, rows: withAgain(known, named, others.map(rowFrom)), error });
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
      run: () => (latest.current.isComplete ? (fill.current?.() ?? Promise.resolve()) : load()),
      every() {
        const { isComplete, error } = latest.current;
        const isOver = isComplete ? lacking().length === 0 : error === undefined;
        return isExpired.value || isOver ? undefined : againMilliseconds;
      },
    });
    return () => {
      isGone = true;
      end();
      unfollow();
      const { rows, isComplete, heavy } = latest.current;
      if (rows.length > 0) keepRows(project_id, { rows, isComplete, next, signIns, heavy });
    };
  }, [project_id, signIns]);

  const renew = async (ids: readonly string[]): Promise<void> => {
    for (let at = 0; at < ids.length; at += maxById) {
      const part = ids.slice(at, at + maxById);
      const { rows: again } = await readWhole(() => experimentsById(project_id, part, fields()));
      const fresh = again.map(rowFrom);
      const { rows } = latest.current;
      show({ ...latest.current, rows: withRestored(withAgain(rows, part, fresh), fresh) });
    }
  };
  const complete: Rows['complete'] = async (chosen, values) => {
    let left = lackingOf(values);
    if (left.length === 0) return chosen;
    const ids = chosen.map(({ experiment_id }) => experiment_id);
    if (ids.length > maxById) {
      if (!latest.current.isComplete) throw new Error('The experiments are still loading.');
      wantedOnce.current = values;
      await fill.current?.();
      wantedOnce.current = [];
      if (lackingOf(values).length > 0) throw latest.current.error;
      const chosenIds = new Set(ids);
      return latest.current.rows.filter(({ experiment_id }) => chosenIds.has(experiment_id));
    }
    let whole = chosen;
    while (left.length > 0) {
      const part = partOfRequest(left);
      const { rows } = await experimentsById(project_id, ids, fieldsOnly(part));
      whole = withValues(whole, rows.map(rowFrom));
      left = left.filter((value) => !part.includes(value));
    }
    return whole;
  };
  const drop = (ids: readonly string[]): void => {
    const gone = new Set(ids);
    show({
      ...latest.current,
      rows: latest.current.rows.filter(({ experiment_id }) => !gone.has(experiment_id)),
    });
  };
  return { ...state, want, complete, refresh, renew, drop };
}
