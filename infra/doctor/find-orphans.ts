import { packsPrefix } from '../../shared/data/environment.ts';
import { unfinishedJobs } from '../../shared/data/job.ts';
import { isFinal } from '../../shared/data/job-status.ts';
import type { Item } from '../../shared/data/table.ts';
import { type Belongings, belongingsOf } from './belongings.ts';
import { driftedCounts } from './drifted-counts.ts';
import type { Finding } from './finding.ts';
import type { Inventory, StoredObject } from './inventory.ts';

/** To what the items of a partition belong, by the beginning of its key; partitions that are not here stand alone. */
const owners: Readonly<
  Record<string, (id: string, belongings: Belongings, item: Item) => string | undefined>
> = {
  COUNTERS: ofProject,
  CONFIGS: ofProject,
  ENVIRONMENT: ofProject,
  ENVIRONMENT_PACKS: ofProject,
  SOURCE: ofProject,
  DATASETS: ofProject,
  BLOBS: ofProject,
  EXPERIMENTS: ofProject,
  CONFIG_CONTENTS: ofProject,
  DELETED_CONFIGS: ofProject,
  EXPERIMENT_RANKING: (id, belongings, { sk }) =>
    ofProject(id, belongings) ?? ofExperiment(sk.split('#')[1] ?? '', belongings),
  JOB: (id, { experiments, strategies }) =>
    experiments.has(id) || strategies.has(id) ? undefined : `there is no job ${id}`,
  OWNED: (_, belongings, { sk }) => ofProject(sk, belongings),
  OWNED_MODELS: (_, { models }, { sk }) =>
    [...models.values()].some(({ model_name }) => model_name === sk) ? undefined : `there is no model ${sk}`,
};

function ofProject(project_id: string, { projects }: Belongings): string | undefined {
  return projects.has(project_id) ? undefined : `there is no project ${project_id}`;
}

function ofExperiment(experiment_id: string, { experiments }: Belongings): string | undefined {
  return experiments.has(experiment_id) ? undefined : `there is no experiment ${experiment_id}`;
}

/** Whether a purge on record will remove an item, or an object. */
const isDoomedItem = ({ purges, projects }: Belongings, { pk, sk }: Item): boolean =>
  purges.some(
    ({ target, project_id }) =>
      target.partitions.some((part) => part.pk === pk && sk.startsWith(part.prefix ?? '')) ||
      // A project's purge finds its experiments by their list, and what is theirs by them.
      (project_id !== undefined && !projects.has(project_id) && pk.startsWith(`EXPERIMENTS#${project_id}`)),
  );
const isDoomedObject = ({ purges }: Belongings, key: string): boolean =>
  purges.some(({ target: { prefixes, leftovers, packs_of } }) =>
    [
      ...prefixes,
      ...(leftovers === undefined ? [] : [leftovers.prefix]),
      ...(packs_of === undefined ? [] : [packsPrefix(packs_of)]),
    ].some((prefix) => key.startsWith(prefix)),
  );

function judgeItem(item: Item, belongings: Belongings): Finding | undefined {
  const { pk, sk } = item;
  const [kind = '', id = ''] = pk.split('#');
  const why = owners[kind]?.(id, belongings, item);
  if (why === undefined || isDoomedItem(belongings, item)) return undefined;
  return { kind: 'orphan', where: `${pk}/${sk}`, why };
}

/** Why an object's owner is no more; undefined while it is there. */
function objectOwner(key: string, { projects, experiments, models, strategies, users }: Belongings) {
  const [root = '', id = '', kind = '', child = ''] = key.split('/');
  const holders: Readonly<Record<string, { has(id: string): boolean }>> = {
    projects,
    models,
    strategies,
    pictures: users,
  };
  if (holders[root]?.has(id) !== true) return `there is no owner ${root}/${id}`;
  if (kind === 'experiments' && !experiments.has(child)) return `there is no experiment ${child}`;
  return undefined;
}

function judgeObject({ key }: StoredObject, belongings: Belongings): Finding | undefined {
  if (isDoomedObject(belongings, key)) return undefined;
  const why = objectOwner(key, belongings);
  if (why !== undefined) return { kind: 'orphan', where: key, why };
  if (key.startsWith('pictures/') || belongings.named.has(key)) return undefined;
  return { kind: 'unnamed', where: key, why: 'no record names it' };
}

/** Rows of unfinished work that were set aside: nobody works on them until the record they need can be read. */
const setAsideRows = (items: readonly Item[]): Finding[] =>
  items
    .filter(({ set_aside_at }) => set_aside_at !== undefined)
    .map(({ pk, sk, set_aside_at, set_aside_reason }) => ({
      kind: 'set-aside',
      where: `${pk}/${sk}`,
      why: `since ${String(set_aside_at)}: ${String(set_aside_reason)}`,
    }));

const isUnfinished = ({ pk }: Item): boolean => unfinishedJobs.partitions.includes(pk);

function judgeUnfinished(item: Item, { experiments, strategies }: Belongings): Finding | undefined {
  if (!isUnfinished(item)) return undefined;
  const job = experiments.get(item.sk) ?? strategies.get(item.sk);
  if (job !== undefined && !isFinal(job.status)) return undefined;
  const why = job === undefined ? 'its record is gone' : `it has ended: ${job.status}`;
  return { kind: 'stale', where: `${item.pk}/${item.sk}`, why };
}

/** The jobs that have not ended and are on no list of unfinished ones: nobody would ever look at them again. */
function forgottenJobs({ records }: Inventory, { experiments, strategies }: Belongings): Finding[] {
  const listed = new Set(records.filter(isUnfinished).map(({ sk }) => sk));
  return [...experiments, ...strategies]
    .filter(([id, { status }]) => !isFinal(status) && !listed.has(id))
    .map(([id, { status }]) => ({
      kind: 'stale',
      where: `JOB#${id}`,
      why: `it is ${status}, and not on the list`,
    }));
}

/** What is left over in a deployment, or does not agree. Empty where everything is in order and nothing is under way. */
export function findOrphans(inventory: Inventory): Finding[] {
  const belongings = belongingsOf(inventory);
  const { records, objects } = inventory;
  return [
    ...records.flatMap((item) => judgeItem(item, belongings) ?? judgeUnfinished(item, belongings) ?? []),
    ...setAsideRows([...records, ...inventory.accounts]),
    ...forgottenJobs(inventory, belongings),
    ...objects.flatMap((object) => judgeObject(object, belongings) ?? []),
    ...driftedCounts(inventory, belongings),
  ];
}
