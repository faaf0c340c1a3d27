import type { SweepSpec } from './spec.ts';
import type { RungReport } from './types.ts';

/** Fields of a sweep that decide whether a trial ends early. */
export interface Stopping extends Pick<SweepSpec, 'stop'> {
  /** Name of the metric, for the reason. */
  metric: string;
  goal: 'minimize' | 'maximize';
}

export interface Judgement {
  stop: boolean;
  /** Why the trial stops. */
  reason?: string;
}

/**
 * Decide whether a trial ends early, by the values that trials reported at rungs. The same arguments give the same
 * decision. NaN and infinite values are the worst.
 *
 * @param reports of this trial and of the others, of every status
 * @param from first rung to judge, where one message brought several; default the last that the trial has reached
 * @example
 * judge({ stop, metric: 'val_loss', goal: 'minimize' }, 7, reports).reason;
 * // 'Stopped early: val_loss 0.91 at step 3 is worse than 6 of 9 trials there.'
 */
export function judge(
  { stop, metric, goal }: Stopping,
  trial: number,
  reports: readonly RungReport[],
  from?: number,
): Judgement {
  if (stop === undefined) return { stop: false };
  const own = reports.filter((report) => report.trial === trial).toSorted((a, b) => a.rung - b.rung);
  const first = from ?? own.at(-1)?.rung ?? 0;
  for (const { rung, step, value } of own.filter((report) => report.rung >= first)) {
    const peers = reports.filter((report) => report.trial !== trial && report.rung <= rung);
    const reason =
      stop.rule === 'asha'
        ? outOfBest(
            { step, value },
            peers.filter((report) => report.rung === rung),
            { metric, goal, reduction: stop.reduction },
          )
        : belowMedian(
            own.filter((report) => report.rung <= rung),
            peers,
            { metric, goal, rung },
          );
    if (reason !== undefined) return { stop: true, reason: `Stopped early: ${reason}` };
  }
  return { stop: false };
}

/**
 * Asynchronous successive halving, in its stopping form (Li et al., A System for Massively Parallel Hyperparameter
 * Tuning, MLSys 2020): of the `n` trials that reached a rung so far, the best `⌊n / reduction⌋` go on, and at least
 * one. Trials of equal value go on together.
 */
function outOfBest(
  { step, value }: Pick<RungReport, 'step' | 'value'>,
  peers: readonly RungReport[],
  { metric, goal, reduction }: { metric: string; goal: Stopping['goal']; reduction: number },
): string | undefined {
  const kept = Math.max(1, Math.floor((peers.length + 1) / reduction));
  const better = peers.filter((peer) => loss(peer.value, goal) < loss(value, goal)).length;
  if (better < kept) return undefined;
  return `${metric} ${shown(value)} at step ${step} is worse than ${better} of ${peers.length} trials there.`;
}

/** Trials that the median rule waits for. */
const minPeers = 5;

/**
 * The median rule (Golovin et al., Google Vizier, KDD 2017): a trial ends if its best value up to a step is worse
 * than the median of the other trials' running averages up to that step. It waits for five others there. The others
 * are all trials that reached the step, also those that still run: a sweep without an end would have no median.
 */
function belowMedian(
  own: readonly RungReport[],
  peers: readonly RungReport[],
  { metric, goal, rung }: { metric: string; goal: Stopping['goal']; rung: number },
): string | undefined {
  const there = new Set(peers.filter((peer) => peer.rung === rung).map((peer) => peer.trial));
  if (there.size < minPeers) return undefined;
  const averages = [...there]
    .map((trial) => mean(peers.filter((peer) => peer.trial === trial).map(({ value }) => loss(value, goal))))
    .toSorted((a, b) => a - b);
  const median = medianOf(averages);
  const best = own.reduce((one, other) => (loss(other.value, goal) < loss(one.value, goal) ? other : one));
  if (loss(best.value, goal) <= median) return undefined;
  const middle = goal === 'minimize' ? median : -median;
  const step = own.at(-1)?.step ?? 0;
  return `the best ${metric} up to step ${step}, ${shown(best.value)}, is worse than the median of ${there.size} trials there, ${shown(middle)}.`;
}

/** Return a value as a loss: the smaller, the better, and infinite without a finite value. */
export function loss(value: number | null, goal: Stopping['goal']): number {
  if (value === null || !Number.isFinite(value)) return Number.POSITIVE_INFINITY;
  return goal === 'minimize' ? value : -value;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value / values.length, 0);

/** Return the median of sorted values. */
function medianOf(sorted: readonly number[]): number {
  const [low = 0, high = 0] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[sorted.length >> 1]];
  return low === high ? low : (low + high) / 2;
}

/** Return a value with four digits at most. */
const shown = (value: number): string => String(Number(value.toPrecision(4)));
