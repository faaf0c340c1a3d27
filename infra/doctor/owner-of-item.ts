import type { Key } from '../../shared/data/table.ts';

/** Owner of an item or object. */
export interface Owner {
  kind: 'project' | 'experiment' | 'job' | 'model' | 'model-id' | 'strategy' | 'user' | 'unknown';
  id: string;
}

const ofProject = (id: string): Owner[] => [{ kind: 'project', id }];

/** To what the items of a partition belong, by the beginning of its key; partitions that are not here stand alone. */
const owners: Readonly<Record<string, (id: string, sk: string) => Owner[]>> = {
  COUNTERS: ofProject,
  CONFIGS: ofProject,
  ENVIRONMENT: ofProject,
  ENVIRONMENT_PACKS: ofProject,
  SOURCE: ofProject,
  DATASETS: ofProject,
  BLOBS: ofProject,
  VARIABLES: ofProject,
  EXPERIMENTS: ofProject,
  MEMBERS: ofProject,
  CONFIG_CONTENTS: ofProject,
  DELETED_CONFIGS: ofProject,
  EXPERIMENT_RANKING: (id, sk) => [...ofProject(id), { kind: 'experiment', id: sk.split('#')[1] ?? '' }],
  TRACKING: (id, sk) => [...ofProject(id), { kind: 'experiment', id: sk.split('#')[0] ?? '' }],
  CATALOGUE: ofProject,
  JOB: (id) => [{ kind: 'job', id }],
  OWNED: (_, sk) => ofProject(sk),
  OWNED_MODELS: (_, sk) => [{ kind: 'model', id: sk }],
};

/** Everything without which an item would be an orphan. */
export function ownersOfItem({ pk, sk }: Key): Owner[] {
  const [kind = '', id = ''] = pk.split('#');
  return owners[kind]?.(id, sk) ?? [];
}

const roots: Readonly<Record<string, Owner['kind']>> = {
  projects: 'project',
  models: 'model-id',
  strategies: 'strategy',
  pictures: 'user',
};

/** Owner of an object, and its experiment, if it has one: without either it is an orphan. */
export function ownersOfObject(key: string): { holder: Owner; experiment: string | null } {
  const [root = '', id = '', folder = '', child = ''] = key.split('/');
  const kind = roots[root];
  const holder: Owner = kind === undefined ? { kind: 'unknown', id: `${root}/${id}` } : { kind, id };
  return { holder, experiment: folder === 'experiments' ? child : null };
}
