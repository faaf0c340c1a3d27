import type { Experiment } from '../experiments/experiment.ts';

/** Runs that the base is looked for among, the newest first. */
export const maxRuns = 1000;

/** Fields of a run that the choice reads. */
export type BaseRun = Pick<
  Experiment,
  'experiment_id' | 'git' | 'command' | 'sweep_id' | 'params' | 'tags' | 'status'
>;

/** Tag of the trainings of `mps ci`, with the path of its file. */
export const ciTag = 'mps.ci';

/**
 * Choose the runs to compare with: on the nearest commit of the target branch that has any, the newest run and those that
 * differ from it in their seeds alone.
 *
 * @param runs of the project, the newest first
 * @returns the newest first, empty without a base; and the newest run of these settings of each commit before it
 */
export function chooseBase<Run extends BaseRun>(
  runs: readonly Run[],
  { ancestors, head, file, seed }: Wanted<Run>,
): { base: Run[]; earlier: Run[] } {
  const position = new Map(ancestors.map((commit, at) => [commit, at]));
  const ids = new Set(head.map(({ experiment_id }) => experiment_id));
  const command = head[0]?.command;
  const isOfCi = ({ tags }: Run) => tags[ciTag] === file;
  const candidates = runs.flatMap((run) => {
    const at = position.get(run.git?.commit ?? '');
    if (at === undefined || run.status !== 'SUCCEEDED' || ids.has(run.experiment_id)) return [];
    // A check runs beside what other steps of its job have left in the folder.
    const isAlike = run.command === command && run.sweep_id === null && run.git?.dirty !== true;
    return isOfCi(run) || isAlike ? [{ run, at }] : [];
  });
  const nearest = Math.min(...candidates.map(({ at }) => at));
  const there = candidates.filter(({ at }) => at === nearest).map(({ run }) => run);
  const newest = there.find(isOfCi) ?? there[0];
  if (newest === undefined) return { base: [], earlier: [] };
  const settings = settingsOf(newest, seed);
  const alike = candidates.filter(
    ({ run }) => isOfCi(run) === isOfCi(newest) && settingsOf(run, seed) === settings,
  );
  const newestOf = new Map<number, Run>();
  for (const { run, at } of alike) if (at > nearest && !newestOf.has(at)) newestOf.set(at, run);
  const before = [...newestOf].sort(([a], [b]) => a - b);
  return {
    base: alike.filter(({ at }) => at === nearest).map(({ run }) => run),
    earlier: before.slice(0, maxEarlier).map(([, run]) => run),
  };
}

/** Commits before the base whose runs tell the noise. */
const maxEarlier = 30;

interface Wanted<Run> {
  /** Commits of the target branch, the newest first. */
  ancestors: readonly string[];
  /** The runs to judge. */
  head: readonly Run[];
  file: string;
  /** Value of the configuration that repeats change. */
  seed: string | undefined;
}

/** The settings of a run without its seeds, to tell configurations apart. */
const settingsOf = ({ params, command }: BaseRun, seed: string | undefined): string =>
  JSON.stringify([
    Object.entries(params)
      .filter(([name]) => name !== seed && !/(?:^|[._-])seed$/i.test(name))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
    Object.keys(params).some((name) => name === seed) ? null : command,
  ]);
