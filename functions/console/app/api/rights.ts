import { loadMembers, type Member } from './people.ts';
import { loadProject } from './projects.ts';
import type { Person } from './session.ts';
import { person } from './session.ts';
import { useLive } from './use-live.ts';

/** Rights of a user. Pages hide every action that the service would refuse. */
export interface Rights {
  /** May see projects, experiments and models. */
  mayRead: boolean;
  /** May create projects and models, and optimize models. */
  mayCreate: boolean;
  /** May change a project's contents, and train. */
  mayChange: boolean;
  /** May share and delete a project. */
  mayOwn: boolean;
}

/** Fields of a project that decide the rights. */
interface Ruled {
  owner_id: string;
  /** Empty if not loaded. Only the user's own entry matters. */
  members: readonly Pick<Member, 'user_id' | 'role'>[];
}

type Who = Pick<Person, 'user_id' | 'account_type'>;

const isMaker = ({ account_type }: Who): boolean => account_type === 'admin' || account_type === 'developer';

/**
 * Derive rights from the account type and the role in a project. Without a project, `mayChange` and `mayOwn` are
 * false. A model or a compression has no members, so only its owner counts.
 */
export function rightsOf(who: Who | undefined, project?: Ruled): Rights {
  const mayRead = who !== undefined && who.account_type !== 'guest';
  const mayCreate = who !== undefined && isMaker(who);
  const mayOwn =
    mayCreate && project !== undefined && (who.account_type === 'admin' || project.owner_id === who.user_id);
  const role = project?.members.find(({ user_id }) => user_id === who?.user_id)?.role;
  return { mayRead, mayCreate, mayOwn, mayChange: mayOwn || (mayCreate && role === 'developer') };
}

/** Return the signed-in user's rights outside of projects. */
export const ownRights = (): Rights => rightsOf(person.value);

/** Return whether the signed-in user may change and delete a model. A model belongs to one user. */
export const mayChangeModel = ({ owner_id }: { owner_id: string }): boolean =>
  rightsOf(person.value, { owner_id, members: [] }).mayOwn;

/** Return the same for a compression, which names its owner by user name. */
export const mayChangeCompression = ({ owner }: { owner: string | null }): boolean => {
  const { user_id = '', username } = person.value ?? {};
  return rightsOf(person.value, { owner_id: owner === username ? user_id : '', members: [] }).mayOwn;
};

/** Return the signed-in user's rights in a project; only reading until the project is loaded. */
export function useRights(project_id: string, known?: { owner_id: string }): Rights & { isKnown: boolean } {
  const who = person.value;
  const live = useLive(
    `rights/${project_id}/${who?.user_id}/${who?.account_type}`,
    async () => {
      if (who === undefined || !isMaker(who)) return rightsOf(who);
      const { owner_id } = known ?? (await loadProject(project_id));
      const rights = rightsOf(who, { owner_id, members: [] });
      return rights.mayOwn ? rights : rightsOf(who, { owner_id, members: await loadMembers(project_id) });
    },
    { isKept: true },
  );
  return { ...(live.data ?? rightsOf(who)), isKnown: live.data !== undefined };
}
