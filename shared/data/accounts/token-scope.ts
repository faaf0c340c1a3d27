import * as z from 'zod';
import { Ulid } from '../../core/formats.ts';
import { ServiceError } from '../../core/service-error.ts';
import { tokenRights } from './token-rights.ts';

export const TokenRight = z.enum(tokenRights, `must be one of ${tokenRights.join(', ')}`);
export type TokenRight = z.infer<typeof TokenRight>;

export const TokenScope = z
  .object({
    /** Ids of the only projects that the token reaches; null for all that its user reaches. */
    projects: z.array(Ulid).nullable(),
    rights: TokenRight,
  })
  .meta({ id: 'TokenScope' });
/** What is left of the rights of a user to the holder of a token. It gives no right that the user lacks. */
export type TokenScope = z.infer<typeof TokenScope>;

/** Token with a budget, to which the jobs that it begins are charged. */
export const ChargedToken = z.object({ user_id: Ulid, token_id: Ulid, budget: z.number() });
export type ChargedToken = z.infer<typeof ChargedToken>;

/** What an operation asks of a token with a scope. */
export interface ScopeRule {
  /** The right that it needs. Without one it refuses every token with a scope. */
  right?: TokenRight | 'none' | undefined;
  /** Whether its answers and changes stay within the projects of the scope. If not, it refuses a scope with projects. */
  keepsToProjects?: boolean | undefined;
}

/** A caller, as far as the scope of their token goes. */
interface Scoped {
  /** Absent for a session, and for a token with all rights of its user. */
  scope?: TokenScope | undefined;
}

/** Refuse a token whose scope is too narrow for an operation. @throws ServiceError `forbidden` */
export function requireScope({ scope }: Scoped, { right = 'none', keepsToProjects }: ScopeRule): void {
  if (scope === undefined) return;
  if (right === 'none')
    throw new ServiceError(
      'forbidden',
      'A token with a scope may not do this; a token with all your rights may.',
    );
  if (tokenRights.indexOf(scope.rights) < tokenRights.indexOf(right))
    throw new ServiceError(
      'forbidden',
      `This requires a token with the right ${right}; the scope of yours has ${scope.rights}.`,
    );
  if (scope.projects !== null && keepsToProjects !== true)
    throw new ServiceError(
      'forbidden',
      'This is not bound to a project, and the scope of your token names the projects that it may reach.',
    );
}

/** Whether a token may reach a project, or what belongs to none (null). */
export const reachesProject = ({ scope }: Scoped, project_id: string | null | undefined): boolean =>
  scope === undefined ||
  scope.projects === null ||
  (typeof project_id === 'string' && scope.projects.includes(project_id));

/** @throws ServiceError `forbidden` if the scope of the token leaves the project out, whether it exists or not */
export function requireReachedProject(caller: Scoped, project_id: string | null | undefined): void {
  if (reachesProject(caller, project_id)) return;
  const what = typeof project_id === 'string' ? 'this project' : 'what belongs to no project';
  throw new ServiceError('forbidden', `The scope of your token does not include ${what}.`);
}
