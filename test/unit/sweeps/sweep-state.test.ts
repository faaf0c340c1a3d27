import { describe, expect, test } from 'vitest';
import type { Sweep } from '../../../shared/data/sweeps/sweep.ts';
import {
  budgetReached,
  type EndedRun,
  nextRun,
  settle,
  withBegun,
} from '../../../shared/sweeps/trials/sweep-state.ts';

const rules = { repeats: 1, retries: 0, until: undefined };
const search = { repeats: 1, parallel: 2, method: 'random' } as const;

/** A sweep of four trials, of which these runs have begun and not ended. */
function sweepOf(running: readonly number[], more: Partial<Sweep> = {}): Sweep {
  const begun = Math.max(-1, ...running) + 1;
  const sweep = {
    status: 'RUNNING',
    status_reason: null,
    criterion: { name: 'loss', goal: 'minimize' },
    trials: 4,
    begun,
    again: [],
    running: running.map((run) => ({ run, experiment_id: `e${run}` })),
    counts: { complete: 0, stopped_early: 0, failed: 0, cancelled: 0 },
    first: [],
    best: null,
    spent: 0,
    run_cost: null,
    run_seconds: null,
    ...more,
  };
  return sweep as unknown as Sweep;
}

const end = (run: number, more: Partial<EndedRun> = {}): EndedRun => ({
  run,
  outcome: 'complete',
  status_reason: null,
  otherNames: null,
  cost: 0,
  seconds: 3,
  failures: 0,
  isOrphan: false,
  ...more,
});
const judged = (trial: number, value: number | null) => ({
  ...{ trial, params: {}, value, deviation: null },
  ...{ step: null, last: null },
});

describe('the next run of a sweep', () => {
  test('is the next number, until as many run as may', () => {
    expect(nextRun(sweepOf([0]), search)).toEqual({ run: 1, isNew: true });
    expect(nextRun(sweepOf([0, 1]), search)).toBeUndefined();
  });

  test('is one that is tried again before any new one', () => {
    const sweep = sweepOf([1], { again: [0] });

    expect(nextRun(sweep, search)).toEqual({ run: 0, isNew: false });
    expect(withBegun(sweep, { run: 0, isNew: false }, 'e9')).toMatchObject({ again: [], begun: 2 });
  });

  test('is none after the last trial, in a pause, and where a client asks', () => {
    expect(nextRun(sweepOf([3]), search)).toBeUndefined();
    expect(nextRun(sweepOf([0], { status: 'PAUSED' }), search)).toBeUndefined();
    expect(nextRun(sweepOf([0]), { ...search, method: 'external' })).toBeUndefined();
  });

  test('is the further repeat of a trial that a client asked for', () => {
    const external = { ...search, repeats: 2, method: 'external' } as const;

    expect(nextRun(sweepOf([0]), external)).toEqual({ run: 1, isNew: true });
  });
});

describe('an ended run', () => {
  test('is counted, and the last one completes the sweep', () => {
    const next = settle(sweepOf([3]), rules, [end(3, { cost: 0.25 })], [judged(3, 0.5)]);

    expect(next).toMatchObject({ status: 'COMPLETED', running: [], spent: 0.25, counts: { complete: 1 } });
    expect(JSON.parse(next.best ?? '')).toMatchObject({ trial: 3, value: 0.5 });
  });

  test('that is complete tells how long the others take, the mean of all', () => {
    const first = settle(sweepOf([0, 1], { run_seconds: 500 }), rules, [end(0, { seconds: 3 })], []);
    const second = settle(first, rules, [end(1, { seconds: 4 })], []);
    const failed = settle(second, rules, [end(2, { outcome: 'failed', seconds: 90 })], []);

    expect([first.run_seconds, second.run_seconds, failed.run_seconds]).toEqual([3, 3.5, 3.5]);
  });

  test('that failed begins again as often as the sweep says, and is counted then', () => {
    const failed = { outcome: 'failed', status_reason: 'exit code 1' } as const;
    const retrying = { ...rules, retries: 1 };

    const once = settle(sweepOf([0]), retrying, [end(0, { ...failed, failures: 1 })], []);
    const twice = settle(sweepOf([0]), retrying, [end(0, { ...failed, failures: 2 })], []);

    expect(once).toMatchObject({ again: [0], counts: { failed: 0 } });
    expect(twice).toMatchObject({ again: [], counts: { failed: 1 } });
  });

  test('of the first three pauses the sweep only where all have one reason', () => {
    const reasons = (...all: string[]) =>
      settle(
        sweepOf([0, 1, 2]),
        rules,
        all.map((status_reason, run) => end(run, { outcome: 'failed', status_reason, failures: 1 })),
        [],
      );

    expect(reasons('no file', 'no file', 'no file').status_reason).toBe(
      'The first three runs failed for the same reason: no file',
    );
    expect(reasons('no file', 'no file', 'no memory').status).toBe('RUNNING');
  });

  test('without a finite value is never the best, and a better one replaces the best', () => {
    const first = settle(sweepOf([0]), rules, [end(0)], [judged(0, null)]);
    const second = settle(sweepOf([1], { best: null }), rules, [end(1)], [judged(1, 0.5)]);
    const third = settle({ ...second, running: [] }, rules, [], [judged(2, 0.7)]);

    expect(first.best).toBeNull();
    expect(JSON.parse(third.best ?? '')).toMatchObject({ trial: 1 });
  });

  test('that is good enough ends the sweep while others run', () => {
    const next = settle(sweepOf([0, 1]), { ...rules, until: { metric: 0.1 } }, [end(0)], [judged(0, 0.05)]);

    expect(next).toMatchObject({ status: 'COMPLETED', running: [{ run: 1 }] });
    expect(next.status_reason).toBe('Trial 0 reached loss 0.05, which is good enough.');
  });

  test('of a deleted user ends the sweep', () => {
    const next = settle(sweepOf([0]), rules, [end(0, { outcome: 'cancelled', isOrphan: true })], []);

    expect(next.status).toBe('CANCELLED');
  });
});

describe('a budget', () => {
  const costly = (running: readonly number[], spent: number) => sweepOf(running, { run_cost: 1, spent });

  test('reserves a whole run for each that runs', () => {
    expect(budgetReached(costly([0, 1], 0), 3)).toBeUndefined();
    expect(budgetReached(costly([0, 1], 0.5), 3)).toContain('US$ 0.5 is left');
  });

  test('of the estimate has room for every run, though prices are rounded', () => {
    const sixth = { begun: 5, running: [], run_cost: 0.016667, spent: 5 * 0.016667 };

    expect(budgetReached(sixth, 0.1)).toBeUndefined();
    expect(budgetReached(sixth, 0.0999)).toContain('is left');
  });

  test('does not bind a sweep without one', () => {
    expect(budgetReached(costly([0, 1], 100), undefined)).toBeUndefined();
  });
});
