import { newId } from '../../../shared/core/new-id.ts';
import { authenticateToken } from '../../../shared/data/accounts/token.ts';
import { environmentKey } from '../../../shared/data/projects/environment.ts';
import {
  countersKey,
  createProject,
  type Project,
  projectKey,
} from '../../../shared/data/projects/project.ts';
import type { Item, Key, TableReader, TableWriter } from '../../../shared/data/table/table.ts';

/** Project fields of a realistic size. */
export const projectText = {
  'project-name': 'Handwritten digits',
  'project-description': 'Tells apart the digits 0 to 9 in images of 8 x 8 pixels.',
  'project-type': 'vision',
  'project-task': 'image-classification',
} as const;

/** A new project of a user, as creating it would make it. */
export function newProject(owner_id: string): Project {
  const created_at = new Date().toISOString();
  return {
    project_id: newId(),
    project_name: projectText['project-name'],
    project_description: projectText['project-description'],
    project_type: projectText['project-type'],
    project_task: projectText['project-task'],
    owner: 'admin',
    owner_id,
    created_at,
    updated_at: created_at,
    version: 1,
  };
}

/** The items that reading a project reads. */
export const projectKeys = (id: string): Key[] => [projectKey(id), environmentKey(id), countersKey(id)];

const noReads = {
  get: async () => undefined,
  peek: async () => undefined,
  batchGet: async () => [],
  query: async () => ({ items: [], next: undefined }),
  count: async () => 0,
};

/** The items that creating a project writes. */
export async function projectItems(project: Project): Promise<Item[]> {
  const items: Item[] = [];
  const recorder: TableWriter<'records'> = {
    ...noReads,
    name: 'records',
    writable: true,
    async write(...writes) {
      items.push(...writes.flatMap((write) => ('put' in write ? [write.put] : [])));
    },
  };
  await createProject(recorder, project);
  return items;
}

/** The items that checking a bearer token reads. */
export async function callerKeys(token: string): Promise<Key[]> {
  const keys: Key[] = [];
  const recorder: TableReader<'accounts'> = {
    ...noReads,
    name: 'accounts',
    async batchGet(wanted) {
      keys.push(...wanted);
      return [];
    },
  };
  await authenticateToken(recorder, token, new Date());
  return keys;
}
