import { usualHeartbeatSeconds } from '../../../../shared/data/jobs/lease.ts';
import { minSeconds } from '../../../../shared/jobs/cost.ts';
import { type Figure, figure, percentile } from '../../bench/figure.ts';
import { chargedByAws, type SimulatedGroup, type SimulatedJob } from './simulate-jobs.ts';

/** Return what budgets were worth over simulated jobs, with the bounds that they promise. */
export function judgeGroups(groups: readonly SimulatedGroup[]): Figure[] {
  const jobs = groups.flatMap((group) => group.jobs);
  const known = jobs.filter(({ isReported }) => isReported);
  const lost = jobs.filter(({ isReported }) => !isReported);
  const errors = known.map((job) => Math.abs(job.cost / chargedByAws(job) - 1) * 100);
  const tooLow = lost.filter((job) => job.cost < 0.999 * chargedByAws(job));
  const kills = jobs.reduce((sum, { attempts }) => sum + attempts.length - 1, 0);
  const stopped = jobs.filter(({ isStopped }) => isStopped).length;
  const beats = [...jobs.flatMap(overspentBeats), ...groups.flatMap(overspentBeatsOfMonth)];
  const open = groups.filter(
    ({ counted }) => Math.abs(counted.committed - counted.spent) > 1e-5 * jobs.length,
  );
  return [
    figure('jobs', jobs.length, '', { remark: `${kills} lost hosts, ${stopped} stopped by a budget` }),
    figure('overspend of a budget, in heartbeats of what runs', Math.max(...beats), '', { atMost: 1 }),
    figure('error of a cost against the price list, largest', Math.max(...errors), '%', { atMost: 3 }),
    figure('error of a cost against the price list, p50', percentile(errors, 0.5), '%'),
    figure('costs too low where an event was lost', tooLow.length, '', {
      atMost: 0,
      remark: `of ${lost.length}`,
    }),
    figure('months that hold money back for ended jobs', open.length, '', { atMost: 0 }),
  ];
}

/**
 * Return by how many heartbeats' price a job exceeded its budget. AWS charges a whole minute for each attempt, so the
 * rest of an unfinished minute is no overspend.
 */
function overspentBeats(job: SimulatedJob): number[] {
  if (job.budget === null) return [];
  const beat = job.price * usualHeartbeatSeconds;
  return [Math.max(0, chargedByAws(job) - restOfMinute(job) - job.budget) / beat];
}

function overspentBeatsOfMonth({ budget, jobs }: SimulatedGroup): number[] {
  if (budget === null) return [];
  const beat = jobs.reduce((sum, { price }) => sum + price * usualHeartbeatSeconds, 0);
  const charged = jobs.reduce((sum, job) => sum + chargedByAws(job) - restOfMinute(job), 0);
  return [Math.max(0, charged - budget) / beat];
}

const restOfMinute = ({ price, attempts }: SimulatedJob): number =>
  Math.max(0, minSeconds - (attempts.at(-1) ?? minSeconds)) * price;
