import type { AnswerOf, RowOf } from '../../../../shared/client/route.ts';
import type { TokenRight } from '../../../../shared/data/accounts/token-rights.ts';
import type { endpoint as createNamedToken } from '../../../auth/create-named-token.endpoint.ts';
import type { endpoint as deleteSessions } from '../../../auth/delete-sessions.endpoint.ts';
import type { endpoint as listSessions } from '../../../auth/list-sessions.endpoint.ts';
import type { endpoint as listTokens } from '../../../auth/list-tokens.endpoint.ts';
import type { endpoint as linkOwnAccount } from '../../../auth/oidc/link-account.endpoint.ts';
import type { endpoint as revokeSession } from '../../../auth/revoke-session.endpoint.ts';
import type { endpoint as revokeToken } from '../../../auth/revoke-token.endpoint.ts';
import type { endpoint as deleteMember } from '../../../projects/members/delete-member.endpoint.ts';
import type { endpoint as listMembers } from '../../../projects/members/list-members.endpoint.ts';
import type { endpoint as putMember } from '../../../projects/members/put-member.endpoint.ts';
import type { endpoint as changePassword } from '../../../users/change-password.endpoint.ts';
import type { endpoint as changeUserType } from '../../../users/change-user-type.endpoint.ts';
import type { endpoint as createUser } from '../../../users/create-user.endpoint.ts';
import type { endpoint as deleteUser } from '../../../users/delete-user.endpoint.ts';
import type { endpoint as listUsers } from '../../../users/list-users.endpoint.ts';
import type { endpoint as deletePicture } from '../../../users/pictures/delete-profile-picture.endpoint.ts';
import type { endpoint as putPicture } from '../../../users/pictures/put-profile-picture.endpoint.ts';
import type { endpoint as readOwnAccount } from '../../../users/read-own-account.endpoint.ts';
import { all, call } from './calls.ts';

export type User = RowOf<typeof listUsers>;
export type Token = RowOf<typeof listTokens>;
export type NewToken = AnswerOf<typeof createNamedToken>;
export type Member = RowOf<typeof listMembers>;
export const accountTypes = ['guest', 'viewer', 'developer', 'admin'] as const;
export type AccountType = (typeof accountTypes)[number];

export const loadOwnAccount = () => call<typeof readOwnAccount>('GET /users/me');
export const loadUsers = (): Promise<User[]> => all<typeof listUsers>('GET /users/');
export const addUser = (fields: { username: string; password: string; account_type: AccountType }) =>
  call<typeof createUser>('POST /users/', {
    fields: { username: fields.username, account_type: fields.account_type },
    body: { password: fields.password },
  });
export const setType = (user_id: string, account_type: AccountType) =>
  call<typeof changeUserType>('POST /users/{user_id}/type', { path: { user_id }, fields: { account_type } });
export const removeUser = (username: string) =>
  call<typeof deleteUser>('DELETE /users/', { fields: { username } });

export const loadTokens = (): Promise<Token[]> => all<typeof listTokens>('GET /auth/tokens');
export const addToken = (
  name: string,
  seconds: number,
  may: { rights: TokenRight; project_id: string; budget: string } | undefined,
): Promise<NewToken> =>
  call<typeof createNamedToken>('POST /auth/tokens', {
    body: {
      name,
      expires_in: seconds,
      ...(may && {
        scope: { rights: may.rights, ...(may.project_id !== '' && { projects: [may.project_id] }) },
      }),
      ...(may?.rights === 'run' && may.budget !== '' && { budget: Number(may.budget) }),
    },
  });
export const removeToken = (token_id: string) =>
  call<typeof revokeToken>('DELETE /auth/tokens/{token_id}', { path: { token_id } });

export const linkAccount = () => call<typeof linkOwnAccount>('POST /auth/oidc/link');

export type Session = RowOf<typeof listSessions>;
export const loadSessions = (): Promise<Session[]> => all<typeof listSessions>('GET /auth/sessions');
export const endSession = (session_id: string) =>
  call<typeof revokeSession>('DELETE /auth/sessions/{session_id}', { path: { session_id } });
export const endAllSessions = () => call<typeof deleteSessions>('DELETE /auth/sessions');

export const setPassword = (username: string, password: string, current_password: string) =>
  call<typeof changePassword>('PUT /users/{username}/password', {
    path: { username },
    body: { password, current_password },
  });
export const setPicture = (username: string, file: File) =>
  call<typeof putPicture>('PUT /users/{username}/profile_picture/', {
    path: { username },
    file,
    headers: { 'Content-Type': file.type === '' ? 'application/octet-stream' : file.type },
  });
export const removePicture = (username: string) =>
  call<typeof deletePicture>('DELETE /users/{username}/profile_picture/', { path: { username } });

export const loadMembers = (project_id: string): Promise<Member[]> =>
  call<typeof listMembers>('GET /projects/{project_id}/members', { path: { project_id } });
export const setMember = (project_id: string, username: string, role: 'viewer' | 'developer') =>
  call<typeof putMember>('PUT /projects/{project_id}/members/{username}', {
    path: { project_id, username },
    fields: { role },
  });
export const removeMember = (project_id: string, username: string) =>
  call<typeof deleteMember>('DELETE /projects/{project_id}/members/{username}', {
    path: { project_id, username },
  });
