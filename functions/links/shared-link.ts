import { ServiceError } from '../../shared/core/service-error.ts';
import { readUsernames } from '../../shared/data/accounts/user.ts';
import { findExperiments } from '../../shared/data/experiments/experiment.ts';
import { nothingTracked, readTrackingOfEach } from '../../shared/data/experiments/tracking.ts';
import { findLinkOfSession, type Link } from '../../shared/data/projects/link.ts';
import { listMembers } from '../../shared/data/projects/member.ts';
import { findProjects, type Project } from '../../shared/data/projects/project.ts';
import { findSweep, type Sweep } from '../../shared/data/sweeps/sweep.ts';
import { lastTry, listRuns } from '../../shared/data/sweeps/sweep-run.ts';
import type { TableReader } from '../../shared/data/table/table.ts';
import type {
  ViewReading as LinkReading,
  ViewedExperiment as SharedExperiment,
} from '../../shared/experiments/search/experiments-of-view.ts';
import type { Ambient, Throttle } from '../../shared/http/definition/endpoint-context.ts';
import { anonymizer } from './anonymizer.ts';
import { type Discretion, hiddenParams } from './hidden-params.ts';
import { maxShared } from './link.ts';

/** Throttle of what anybody may ask with a link. */
export const sharedThrottle: Throttle = { perSecond: 20, burst: 40 };

/** The same for each reason: a stranger learns nothing. */
export const linkIsGone = (): ServiceError =>
  new ServiceError('not-found', 'There is no such link, or it has ended.');

/** A link, and the project that it shows a part of. */
interface Shared {
  link: Link;
  project: Project;
}

/** The first experiments that a link shows. */
interface SharedExperiments {
  all: SharedExperiment[];
  /** Whether there are more than {@link maxShared}. */
  isMore: boolean;
  /** The sweep of a link of one. */
  sweep?: Sweep | undefined;
}

type Asking = Pick<Ambient, 'header' | 'now'> & { records: TableReader<'records'> };

/** Return the link of the session that a request presents. @throws ServiceError `not-found` if there is none */
export async function requireLink({ records, header, now }: Asking): Promise<Shared> {
  const [, session = ''] = /^link +(\S{1,150})$/i.exec(header('authorization') ?? '') ?? [];
  return requireProject(records, await findLinkOfSession(records, session, now()));
}

/** Return a link with its project. @throws ServiceError `not-found` if one of both is gone */
export async function requireProject(records: Asking['records'], link: Link | undefined): Promise<Shared> {
  const [project] = link === undefined ? [] : (await findProjects(records, [link.project_id])).items;
  if (link === undefined || project === undefined || project.deleted_at !== undefined) throw linkIsGone();
  return { link, project };
}

/**
 * Return the first experiments that a link shows.
 * @param isWanted chooses some of them before they are read, where that is possible
 * @throws ServiceError `not-found` if none of what it names is left
 */
export async function sharedExperiments(
  reading: LinkReading,
  { link: { project_id, subject }, project: { views = [] } }: Shared,
  isWanted: (experiment_id: string) => boolean = () => true,
): Promise<SharedExperiments> {
  const { records } = reading;
  // Its blocks have an operation of their own.
  if (subject.kind === 'report') throw linkIsGone();
  if (subject.kind === 'view') {
    if (!views.some(({ name }) => name === subject.name)) throw linkIsGone();
    const { experimentsOfView } = await import('../../shared/experiments/search/experiments-of-view.ts');
    return experimentsOfView(reading, project_id, subject, maxShared);
  }
  const { ids, isMore, sweep } =
    subject.kind === 'sweep'
      ? await idsOfSweep(records, { ...subject, project_id })
      : { ids: subject.experiment_ids, isMore: false, sweep: undefined };
  const experiments = await findExperiments(records, project_id, ids.filter(isWanted));
  const { of } = await readTrackingOfEach(records, experiments);
  const all = experiments.map((experiment) => ({
    experiment,
    tracking: of.get(experiment.experiment_id) ?? nothingTracked,
  }));
  const present = all.filter(({ tracking }) => tracking.fields?.deleted_at === undefined);
  if (present.length === 0 && subject.kind !== 'sweep') throw linkIsGone();
  return { all: present, isMore, sweep };
}

async function idsOfSweep(
  records: TableReader<'records'>,
  { project_id, sweep_id }: { project_id: string; sweep_id: string },
): Promise<{ ids: string[]; isMore: boolean; sweep: Sweep }> {
  const sweep = await findSweep(records, project_id, sweep_id);
  if (sweep === undefined || sweep.deleting !== undefined) throw linkIsGone();
  const { items, next } = await listRuns(records, sweep, { limit: maxShared });
  return { ids: items.map((run) => lastTry(run).experiment_id), isMore: next !== undefined, sweep };
}

/** Return the experiment of this id that a link shows, and what it tells. @throws ServiceError `not-found` for any other */
export async function requireShared(
  reading: LinkReading,
  shared: Shared,
  experiment_id: string,
): Promise<{ shown: SharedExperiment; told: Discretion }> {
  const { anonymous, hide } = shared.link;
  // Tags of one experiment may tell the names in another.
  const isAlone = !anonymous && hide.length === 0;
  const { all } = await sharedExperiments(reading, shared, (id) => !isAlone || id === experiment_id);
  const shown = all.find(({ experiment }) => experiment.experiment_id === experiment_id);
  if (shown === undefined) throw linkIsGone();
  return { shown, told: await discretionOf(reading, shared, all) };
}

/** Return what decides which texts of these experiments a link shows. */
export async function discretionOf(
  { records, accounts }: LinkReading,
  { link: { hide, anonymous }, project }: Shared,
  all: readonly SharedExperiment[],
): Promise<Discretion> {
  const hiding = hiddenParams(
    hide,
    all.map(({ tracking }) => tracking.fields),
  );
  if (!anonymous) return hiding;
  const ids = new Set(all.map(({ experiment }) => experiment.user_id));
  const [members, users] = await Promise.all([
    listMembers(records, project.project_id),
    readUsernames(accounts, [...ids]),
  ]);
  const { owner, project_name } = project;
  const usernames = [owner ?? '', ...members.items.map(({ username }) => username), ...users.values()];
  const anonymously = anonymizer(
    { usernames, project_name },
    all.map(({ experiment: { ci }, tracking: { fields } }) => ({ ci, fields })),
  );
  return {
    shows: (text) => hiding.shows(text) && anonymously.shows(text),
    showsParam: (name, value) => hiding.showsParam(name, value) && anonymously.showsParam(name, value),
  };
}
