import { badRequest, type ParameterFault, ServiceError } from '../../../shared/core/service-error.ts';
import { hasEnded } from '../../../shared/data/sweeps/has-ended.ts';
import type { Sweep } from '../../../shared/data/sweeps/sweep.ts';
import { budgetFault, ofOneRun } from '../../../shared/jobs/budget.ts';
import { roundedDollars } from '../../../shared/jobs/cost.ts';
import { gridSize } from '../../../shared/sweeps/sampling/grid.ts';
import { maxTrials } from '../../../shared/sweeps/spec/limits.ts';
import type { SweepParameter } from '../../../shared/sweeps/spec/parameter.ts';
import { SweepSpec } from '../../../shared/sweeps/spec.ts';
import { budgetReached } from '../../../shared/sweeps/trials/sweep-state.ts';

/** Changes of a sweep. Absent fields stay. */
interface SweepChange {
  name?: string | undefined;
  note?: string | null | undefined;
  trials?: number | undefined;
  parallel?: number | undefined;
  /** US dollars; null removes it. */
  budget?: number | null | undefined;
  parameters?: Readonly<Record<string, SweepParameter>> | undefined;
}

/**
 * Return a sweep with changes. What it knows stays: its trials keep their numbers and values.
 * @throws ServiceError 400 that names every fault; `conflict` for more trials of a cancelled sweep
 */
export function extended(sweep: Sweep, spec: SweepSpec, change: SweepChange): Sweep {
  const { name, note, budget, parameters = {}, ...numbers } = change;
  const { trials: _, budget: __, ...rest } = spec;
  const trials = numbers.trials ?? (spec.method === 'grid' ? undefined : sweep.trials);
  const kept = budget === undefined ? spec.budget : (budget ?? undefined);
  const parsed = SweepSpec.safeParse({
    ...rest,
    ...(trials !== undefined && { trials }),
    ...(numbers.parallel !== undefined && { parallel: numbers.parallel }),
    ...(kept !== undefined && { budget: kept }),
    parameters: { ...spec.parameters, ...parameters },
  });
  const faults = [
    ...(parsed.error?.issues.map(({ path, message }) => fault(path.map(String).join('.'), message)) ?? []),
    ...Object.entries(parameters).flatMap(([one, wider]) => faultsOfWider(one, spec.parameters[one], wider)),
    ...faultsOfNumbers(sweep, spec, change),
  ];
  if (faults.length > 0 || parsed.data === undefined) throw badRequest(faults);
  const total = parsed.data.trials ?? gridSize(parsed.data.parameters, maxTrials) ?? maxTrials;
  const isLonger = total * spec.repeats > Math.max(sweep.begun, sweep.trials * spec.repeats);
  if (isLonger && sweep.status === 'CANCELLED')
    throw new ServiceError('conflict', 'The sweep was cancelled, so no trial of it begins any more.');
  return {
    ...sweep,
    name: name ?? sweep.name,
    note: note === undefined ? sweep.note : note,
    spec: JSON.stringify(parsed.data),
    trials: total,
    status_reason: reasonAfter(sweep, spec.budget, parsed.data.budget),
    ...(isLonger &&
      hasEnded(sweep) && { status: 'RUNNING' as const, status_reason: null, ended_at: null, first: [] }),
  };
}

/** Return the reason of a sweep's status. One that its budget has paused tells what the new budget leaves. */
function reasonAfter(sweep: Sweep, before: number | undefined, budget: number | undefined): string | null {
  const { status, status_reason } = sweep;
  const isOfBudget = status === 'PAUSED' && status_reason === budgetReached(sweep, before);
  if (!isOfBudget) return status_reason;
  return budgetReached(sweep, budget) ?? 'There is money for further runs now. Resume the sweep.';
}

const fault = (name: string, message: string): ParameterFault => ({ in: 'body', name, message });

/** Return the faults of a parameter that takes less than before, or something else. */
function faultsOfWider(
  name: string,
  before: SweepParameter | undefined,
  wider: SweepParameter,
): ParameterFault[] {
  const at = `parameters.${name}`;
  if (before === undefined) return [fault(at, 'is no parameter of the sweep')];
  if (JSON.stringify(before.if ?? null) !== JSON.stringify(wider.if ?? null))
    return [fault(`${at}.if`, 'must stay as it is')];
  if (before.values !== undefined) {
    const lost = before.values.filter((value) => !wider.values?.includes(value));
    return lost.length === 0 ? [] : [fault(`${at}.values`, `must still hold ${lost.map(String).join(', ')}`)];
  }
  if (before.value !== undefined)
    return before.value === wider.value ? [] : [fault(at, `must stay ${String(before.value)}`)];
  const { min = 0, max = 0, step, scale } = before;
  return [
    ...(wider.min !== undefined && wider.min <= min ? [] : [fault(`${at}.min`, `must be at most ${min}`)]),
    ...(wider.max !== undefined && wider.max >= max ? [] : [fault(`${at}.max`, `must be at least ${max}`)]),
    ...(wider.step === step ? [] : [fault(`${at}.step`, `must stay ${step ?? 'away'}`)]),
    ...((wider.scale ?? 'linear') === (scale ?? 'linear')
      ? []
      : [fault(`${at}.scale`, `must stay ${scale ?? 'linear'}`)]),
  ];
}

function faultsOfNumbers(sweep: Sweep, { repeats }: SweepSpec, change: SweepChange): ParameterFault[] {
  const { trials, budget } = change;
  const begun = Math.ceil(sweep.begun / repeats);
  const faults: ParameterFault[] = [];
  if (trials !== undefined && trials < begun)
    faults.push(fault('trials', `must be at least ${begun}: so many were begun`));
  if (budget == null) return faults;
  const { run_cost, spent, running } = sweep;
  const used = run_cost === null ? null : roundedDollars(spent + running.length * run_cost);
  const message =
    used === 0
      ? budgetFault(budget, run_cost, ofOneRun)
      : budgetFault(budget, used, 'which is spent or may be spent by what runs');
  return message === undefined ? faults : [...faults, fault('budget', message)];
}
