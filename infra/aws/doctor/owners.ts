import type { Key } from '../../../shared/data/table/table.ts';

/** Return the owners of an item. Without one of them, the item is an orphan. */
export function ownersOfItem({ pk, sk }: Key): Owner[] {
  const [kind = '', id = ''] = pk.split('#');
  return owners[kind]?.(id, sk) ?? [];
}

/** Owner of an item or object. */
interface Owner {
  kind:
    | 'project'
    | 'experiment'
    | 'job'
    | 'logged-model'
    | 'model'
    | 'model-id'
    | 'registration'
    | 'strategy'
    | 'user'
    | 'unknown';
  id: string;
}

const ofProject = (id: string): Owner[] => [{ kind: 'project', id }];

/** Owners of a partition's items, by the prefix of its key. Items of other partitions have no owner. */
const owners: Readonly<Record<string, (id: string, sk: string) => Owner[]>> = {
  COUNTERS: ofProject,
  CONFIGS: ofProject,
  ENVIRONMENT: ofProject,
  ENVIRONMENT_PACKS: ofProject,
  SOURCE: ofProject,
  DATASETS: ofProject,
  BLOBS: ofProject,
  VARIABLES: ofProject,
  LINKS: ofProject,
  EXPORT: ofProject,
  EXPERIMENTS: ofProject,
  MEMBERS: ofProject,
  CONFIG_CONTENTS: ofProject,
  DELETED_CONFIGS: ofProject,
  EXPERIMENT_RANKING: (id, sk) => [...ofProject(id), { kind: 'experiment', id: sk.split('#')[1] ?? '' }],
  TRACKING: (id, sk) => [...ofProject(id), { kind: 'experiment', id: sk.split('#')[0] ?? '' }],
  CATALOGUE: ofProject,
  LOGGED_MODELS: ofProject,
  LOGGED_MODEL_FILES: (id, sk) => [...ofProject(id), { kind: 'logged-model', id: sk.split('#')[0] ?? '' }],
  MODEL_VERSIONS: (_, sk) => [{ kind: 'registration', id: sk.split('#')[0] ?? '' }],
  JOB: (id) => [{ kind: 'job', id }],
  OWNED: (_, sk) => ofProject(sk),
  OWNED_MODELS: (_, sk) => [{ kind: 'model', id: sk }],
};

const roots: Readonly<Record<string, Owner['kind']>> = {
  projects: 'project',
  models: 'model-id',
  strategies: 'strategy',
  pictures: 'user',
};

/** Kinds of items with their own folder in a project's folder. */
const children: Readonly<Record<string, Owner['kind']>> = {
  experiments: 'experiment',
  models: 'logged-model',
};

/**
 * Return the owner of an object, and its experiment or logged model if it has one. Without either, the object is
 * an orphan.
 */
export function ownersOfObject(key: string): { holder: Owner; child: Owner | null } {
  const [root = '', id = '', folder = '', name = ''] = key.split('/');
  const kind = roots[root];
  const holder: Owner = kind === undefined ? { kind: 'unknown', id: `${root}/${id}` } : { kind, id };
  const childKind = kind === 'project' ? children[folder] : undefined;
  return { holder, child: childKind === undefined ? null : { kind: childKind, id: name } };
}
