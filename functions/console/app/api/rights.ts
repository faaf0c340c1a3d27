import { loadMembers, type Member } from './people.ts';
import { loadProject } from './projects.ts';
import type { Person } from './session.ts';
import { person } from './session.ts';
import { useLive } from './use-live.ts';

/** What somebody may do: the service would refuse the rest, so that nothing on a page offers it. */
export interface Rights {
  /** See projects, experiments and models. */
  mayRead: boolean;
  /** Make projects and models, and optimize models. */
  mayCreate: boolean;
  /** Change what a project has, and train. */
  mayChange: boolean;
  /** Share a project, and delete it. */
  mayOwn: boolean;
}

/** A project as far as it decides who may do what. */
interface Ruled {
  owner_id: string;
  /** Empty where they are not asked for: those of others say nothing of oneself. */
  members: readonly Pick<Member, 'user_id' | 'role'>[];
}

type Who = Pick<Person, 'user_id' | 'account_type'>;

const isMaker = ({ account_type }: Who): boolean => account_type === 'admin' || account_type === 'developer';

/**
 * What the account type and the role in a project allow together. Without a project `mayChange` and `mayOwn` are false; of
 * a model or a strategy its owner decides alone.
 */
export function rightsOf(who: Who | undefined, project?: Ruled): Rights {
  const mayRead = who !== undefined && who.account_type !== 'guest';
  const mayCreate = who !== undefined && isMaker(who);
  const mayOwn =
    mayCreate && project !== undefined && (who.account_type === 'admin' || project.owner_id === who.user_id);
  const role = project?.members.find(({ user_id }) => user_id === who?.user_id)?.role;
  return { mayRead, mayCreate, mayOwn, mayChange: mayOwn || (mayCreate && role === 'developer') };
}

/** What who is signed in may do besides projects. */
export const ownRights = (): Rights => rightsOf(person.value);

/** Whether who is signed in may change and delete a model, which belongs to one user. */
export const mayChangeModel = ({ owner_id }: { owner_id: string }): boolean =>
  rightsOf(person.value, { owner_id, members: [] }).mayOwn;

/** The same of a strategy, whose owner is told by name. */
export const mayChangeStrategy = ({ owner }: { owner: string | null }): boolean => {
  const { user_id = '', username } = person.value ?? {};
  return rightsOf(person.value, { owner_id: owner === username ? user_id : '', members: [] }).mayOwn;
};

/** What who is signed in may do in a project; nothing but reading until that is known. */
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
