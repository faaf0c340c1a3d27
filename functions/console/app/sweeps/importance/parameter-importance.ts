import type { Axis } from '../../charts/values/axis.ts';
import { rankCorrelation, ranks } from '../../experiments/values/rank-correlation.ts';
import type { ForestRows, Importance } from './random-forest.ts';

/** What the trials of a sweep say about one parameter. */
export interface ParameterImportance {
  name: string;
  /** Share from 0 to 1; undefined where the trials do not tell. */
  share: number | undefined;
  /** Rank correlation with the metric; undefined for texts, which have no order. */
  correlation: number | undefined;
}

/** Fewer trials with a value say nothing, neither in all nor for each parameter. */
const minTrials = 20;
const minForEach = 5;

/** The forest of more trials would take longer, and say the same. */
const maxTrials = 2_000;

/** Share of the metric's variance below which the forest has found nothing. */
const minExplained = 0.1;

/** Return how many trials with a value importance needs. */
export const trialsNeeded = (parameters: number): number => Math.max(minTrials, minForEach * parameters);

/**
 * Return the rows for a forest: each parameter's place on its axis, and the rank of the metric, so that a diverged
 * trial weighs no more than another bad one. At most 2,000 of the trials, evenly apart.
 */
export function forestRows(inputs: readonly Axis[], outcome: Axis): ForestRows {
  const valued = outcome.units.flatMap((unit, index) => (unit === undefined ? [] : [index]));
  const step = Math.max(1, valued.length / maxTrials);
  const rows = Array.from(
    { length: Math.min(valued.length, maxTrials) },
    (_, at) => valued[Math.floor(at * step)] ?? 0,
  );
  return {
    columns: inputs.map(({ units, placeOf }) =>
      Float64Array.from(rows, (row) => {
        const unit = units[row];
        return unit === undefined ? Number.NaN : placeOf(unit);
      }),
    ),
    target: Float64Array.from(ranks(rows.map((row) => outcome.units[row] ?? 0))),
  };
}

/** Return what the trials say about each parameter, the most important one first. */
export function parameterImportance(
  inputs: readonly Axis[],
  outcome: Axis,
  importance: Importance | undefined,
): ParameterImportance[] {
  const isTold = importance !== undefined && importance.explained >= minExplained;
  return inputs
    .map((axis, index) => ({
      name: axis.name,
      share: isTold ? importance.shares[index] : undefined,
      correlation: correlationOf(axis, outcome),
    }))
    .sort(
      (a, b) =>
        (b.share ?? 0) - (a.share ?? 0) || Math.abs(b.correlation ?? 0) - Math.abs(a.correlation ?? 0),
    );
}

function correlationOf(input: Axis, outcome: Axis): number | undefined {
  if (input.words.length > 2) return undefined;
  const pairs = input.units.flatMap((unit, index) => {
    const value = outcome.units[index];
    return unit === undefined || value === undefined ? [] : [[unit, value] as const];
  });
  return rankCorrelation(
    pairs.map(([unit]) => unit),
    pairs.map(([, value]) => value),
  );
}
