import * as z from 'zod';
import { Ulid } from '../../shared/core/formats.ts';
import { type ParameterFault, ServiceError } from '../../shared/core/service-error.ts';
import { TokenRight, type TokenScope } from '../../shared/data/accounts/token-scope.ts';
import type { TableReader } from '../../shared/data/table/table.ts';
import type { Ambient, Caller } from '../../shared/http/definition/endpoint-context.ts';
import { decimalAbove } from '../../shared/http/definition/parameters.ts';
import { projectFor } from '../../shared/http/pipeline/project-authorization.ts';
import { noPriceMessage } from '../../shared/jobs/cost.ts';

/** Maximum projects of a scope. */
const maxProjects = 100;

/** The scope of a new token or trust. */
export const AskedScope = z.strictObject({
  projects: z
    .array(Ulid)
    .min(1, 'names no project; leave it out for all projects of the user')
    .max(maxProjects, `names more than ${maxProjects} projects`)
    .transform((ids) => [...new Set(ids)])
    .optional()
    .describe('Ids of the only projects that it reaches. Default: all that the user reaches.'),
  rights: TokenRight.describe(
    '`read`: operations that only read. `record`: also what a tracker writes: experiments with their params, metrics, artifacts and logged models. `run`: also beginning and cancelling trainings, sweeps, trials and compressions, and uploading source, configurations, environment and data sets.',
  ),
});

/** The budget of a new token or trust. */
export const AskedBudget = decimalAbove(0, 1_000_000).describe(
  'US$ that the jobs which it begins may cost together, those of its sweeps and retries included, such as `20`; needs the right `run`. A job that has no room for its most is refused.',
);

interface Asking extends Pick<Ambient, 'settings'> {
  records: TableReader<'records'>;
  caller: Caller;
}

/** Return what is wrong with the scope and the budget that a caller asks for. */
export async function scopeFaults(
  context: Asking,
  scope: TokenScope | undefined,
  budget: number | null,
): Promise<ParameterFault[]> {
  const faults = scope?.projects ? await faultsOfProjects(context, scope.projects, scope.rights) : [];
  const message = scope?.rights !== 'run' ? 'needs a scope with the right run' : noPriceMessage;
  if (budget !== null && (scope?.rights !== 'run' || context.settings.prices === undefined))
    faults.push({ in: 'body', name: 'budget', message });
  return faults;
}

/** Return the projects of a scope in which the user could not use it now: another user's, deleted and missing ones. */
async function faultsOfProjects(
  { records, caller }: Asking,
  projects: readonly string[],
  rights: TokenRight,
): Promise<ParameterFault[]> {
  if (caller.account_type === 'guest')
    throw new ServiceError('forbidden', 'Accounts of type guest reach no project.');
  const rule = rights === 'read' ? 'viewer' : 'developer';
  const found = await Promise.allSettled(projects.map((id) => projectFor(records, id, rule, caller)));
  return found.flatMap((one, index): ParameterFault[] => {
    if (one.status === 'rejected' && !(one.reason instanceof ServiceError)) throw one.reason;
    const fault =
      one.status === 'rejected'
        ? one.reason.message
        : one.value.deleted_at !== undefined && 'The project is deleted.';
    if (fault === false) return [];
    return [{ in: 'body', name: 'scope.projects', message: `names ${projects[index]}: ${fault}` }];
  });
}
