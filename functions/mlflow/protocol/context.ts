import type { ObjectWriter } from '../../../shared/aws/objects.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import type { Project } from '../../../shared/data/project.ts';
import type { TableWriter } from '../../../shared/data/table.ts';
import { accountTypes } from '../../../shared/data/user.ts';
import type { Ambient, Caller } from '../../../shared/http/endpoint-context.ts';
import { projectFor } from '../../../shared/http/project-rule.ts';
import { doesNotExist } from './mlflow-error.ts';

/** What every route receives besides its input. */
export interface MlflowContext extends Pick<Ambient, 'now' | 'newId' | 'settings' | 'log'> {
  records: TableWriter<'records'>;
  objects: ObjectWriter;
  caller: Caller;
}

/** Reading, or changing what is in a project, or the project itself. */
export type Access = 'viewer' | 'developer' | 'owner';

/** @throws ServiceError `forbidden` for accounts that may only read */
export function requireDeveloper({ caller }: Pick<MlflowContext, 'caller'>): void {
  if (accountTypes.indexOf(caller.account_type) >= accountTypes.indexOf('developer')) return;
  throw new ServiceError('forbidden', 'This needs an account of type developer; yours only reads.');
}

/**
 * The project, for a caller who may do this in it.
 * @throws ServiceError `not-found`, `forbidden`
 */
export async function requireAccess(
  { records, caller }: Pick<MlflowContext, 'records' | 'caller'>,
  project_id: string,
  access: Access,
): Promise<Project> {
  if (access !== 'viewer') requireDeveloper({ caller });
  return projectFor(records, project_id, access, caller).catch((error: unknown) => {
    if (error instanceof ServiceError && error.kind === 'not-found')
      throw doesNotExist(`No Experiment with id=${project_id} exists`);
    throw error;
  });
}
