import type { MemberRole } from '../../../../shared/data/projects/member.ts';
import { type Apply, looking } from './linearize.ts';

/** A project that is shared, by names of users. */
export interface Sharing {
  /** Null once the project is deleted. */
  owner: string | null;
  members: Readonly<Record<string, MemberRole>>;
}

const check = looking<Sharing>;

export const isGone = check(({ owner }) => owner === null);
export const isThere = check(({ owner }) => owner !== null);
export const isOwnedBy = (name: string) => check(({ owner }) => owner === name);
export const isNotOwnedBy = (name: string) => check(({ owner }) => owner !== null && owner !== name);
export const isMember = (name: string, role: MemberRole | undefined) =>
  check(({ members }) => members[name] === role);
export const isNoDeveloper = (name: string) => check(({ members }) => members[name] !== 'developer');
export const mayChange = (name: string) =>
  check(({ owner, members }) => owner === name || (owner !== null && members[name] === 'developer'));
export const hasMembers = (expected: Readonly<Record<string, string>>) =>
  check(({ members }) => {
    const names = Object.keys(members);
    return (
      names.length === Object.keys(expected).length && names.every((name) => members[name] === expected[name])
    );
  });
export const isListedBy = (name: string) =>
  check(({ owner, members }) => owner === name || members[name] !== undefined);
/** A deleted project stays on lists for a while, and is left out by who reads them. */
export const isUnlistedBy = (name: string) =>
  check(({ owner, members }) => owner === null || (owner !== name && members[name] === undefined));

export const shared =
  (by: string, name: string, role: MemberRole): Apply<Sharing> =>
  (state) =>
    state.owner === by && name !== by ? { ...state, members: { ...state.members, [name]: role } } : undefined;

export const unshared =
  (by: string, name: string, role: string): Apply<Sharing> =>
  (state) => {
    const { [name]: present, ...members } = state.members;
    return state.owner === by && present === role ? { ...state, members } : undefined;
  };

/** Who was the owner becomes a developer. */
export const transferred =
  (by: string, to: string): Apply<Sharing> =>
  (state) => {
    if (state.owner !== by) return undefined;
    if (to === by) return state;
    const { [to]: _, ...others } = state.members;
    return { owner: to, members: { ...others, [by]: 'developer' } };
  };

/** Its members stay until the purge, which no history waits for. */
export const deleted =
  (by: string): Apply<Sharing> =>
  (state) =>
    state.owner === by ? { ...state, owner: null } : undefined;
