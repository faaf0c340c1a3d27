import { ServiceError } from '../core/service-error.ts';
import { type Project, requireProject } from './project.ts';
import type { TableReader } from './table.ts';
import { ConditionFailedError } from './write-label.ts';

/** Somebody always wins a round, so this many contenders for one record all come through. */
const rounds = 8;

/**
 * Does a change that reads a record of a project and writes its next version, again whenever another writer came
 * between, each time with the project as it is then. Throws a 404 problem once the project is gone, and a 409 problem
 * when others keep coming between.
 */
export async function changeInProject<T>(
  records: TableReader<'records'>,
  project: Project,
  attempt: (project: Project) => Promise<T>,
): Promise<T> {
  let present = project;
  for (let round = 1; ; round += 1) {
    try {
      return await attempt(present);
    } catch (error) {
      if (!(error instanceof ConditionFailedError)) throw error;
      present = await requireProject(records, project.project_id);
      if (round === rounds) {
        throw new ServiceError('conflict', 'Others are changing this at the same moment. Try again.', {
          cause: error,
        });
      }
    }
  }
}
