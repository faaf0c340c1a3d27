import * as z from 'zod';
import { ChargedToken } from './token-scope.ts';

const fact = z.string().max(255).nullable();

/** The run of a CI system that a token was issued to, by the signed claims of its issuer. */
export const CiRun = z
  .object({
    name: z.string().describe('Path of the repository, such as `OWNER/NAME`.'),
    actor: fact.describe('Who started the run, as the CI system names them.'),
    commit: fact,
    ref: fact.describe('Branch or tag, such as `refs/heads/main`.'),
    run_id: fact.describe('ID of the run in the CI system.'),
  })
  .meta({ id: 'CiRun' });
export type CiRun = z.infer<typeof CiRun>;

/** Name that takes the place of a user's where CI has begun something. */
export const ciName = ({ name }: Pick<CiRun, 'name'>): string => `ci:${name}`;

/** What jobs and sweeps keep of the token that began them. */
export const tokenOrigin = () => ({
  /** Token with a budget, to which it is charged. Absent without one. */
  charged_token: ChargedToken.optional(),
  /** Absent for what a person began. */
  ci: CiRun.optional(),
});
export interface TokenOrigin {
  charged_token?: ChargedToken | undefined;
  ci?: CiRun | undefined;
}

/** Return what a caller, or what one has begun, hands on to what it begins. */
export const originOf = ({ charged_token, ci }: TokenOrigin) => ({
  ...(charged_token !== undefined && { charged_token }),
  ...(ci !== undefined && { ci }),
});
