import { usualHeartbeatSeconds } from '../../../../shared/data/jobs/lease.ts';
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
  const mostOfJobs = (paid: Paid) => Math.max(...jobs.flatMap((job) => overspentBeats(job, paid)));
  const mostOfMonths = (paid: Paid) =>
    Math.max(...groups.flatMap((group) => overspentBeatsOfMonth(group, paid)));
  const open = groups.filter(
    ({ counted }) => Math.abs(counted.committed - counted.spent) > 1e-5 * jobs.length,
  );
  return [
    figure('jobs', jobs.length, '', { remark: `${kills} lost hosts, ${stopped} stopped by a budget` }),
    figure("overspend of a job's own budget, in its heartbeats", mostOfJobs(bySecond), '', { atMost: 1.01 }),
    figure('overspend of a month that jobs share, in heartbeats of all', mostOfMonths(bySecond), '', {
      atMost: 2,
    }),
    figure('overspends with the minute that AWS charges for each attempt', mostOfJobs(chargedByAws), '', {
      remark: `of a month ${mostOfMonths(chargedByAws).toFixed(2)}`,
    }),
    figure('error of a cost against the price list, largest', Math.max(...errors), '%', { atMost: 3 }),
    figure('error of a cost against the price list, p50', percentile(errors, 0.5), '%'),
    figure('costs too low where an event was lost', tooLow.length, '', {
      atMost: 0,
      remark: `of ${lost.length}`,
    }),
    figure('months that hold money back for ended jobs', open.length, '', { atMost: 0 }),
  ];
}

/** Return by how many heartbeats' price a job exceeded its budget. */
function overspentBeats(job: SimulatedJob, paid: Paid): number[] {
  if (job.budget === null) return [];
  return [Math.max(0, paid(job) - job.budget) / (job.price * usualHeartbeatSeconds)];
}

/**
 * Return the same for the month of a project, by the heartbeats of all its jobs. A job learns what the others have spent
 * from their heartbeats, and stops at its own next one: so less than two.
 */
function overspentBeatsOfMonth({ budget, jobs }: SimulatedGroup, paid: Paid): number[] {
  if (budget === null) return [];
  const beat = jobs.reduce((sum, { price }) => sum + price * usualHeartbeatSeconds, 0);
  const charged = jobs.reduce((sum, job) => sum + paid(job), 0);
  return [Math.max(0, charged - budget) / beat];
}

type Paid = (job: SimulatedJob) => number;

/** Return the US dollars of the seconds that a job ran. AWS charges a minute for each attempt that is shorter. */
const bySecond: Paid = ({ price, attempts }) => attempts.reduce((sum, seconds) => sum + seconds * price, 0);
