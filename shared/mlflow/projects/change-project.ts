import {
  type Project,
  type ProjectChange,
  requireProject,
  updateProject,
} from '../../data/projects/project.ts';
import { faultOfProjectTags } from '../../data/rules/project.ts';
import { retryOnConflict } from '../../data/table/retry-on-conflict.ts';
import type { MlflowContext } from '../protocol/context.ts';
import { invalidValue } from '../protocol/mlflow-error.ts';

export function requireTagRoom(tags: Readonly<Record<string, string>>): void {
  const fault = faultOfProjectTags(tags);
  if (fault !== undefined) throw invalidValue('tags', Object.keys(tags).length, fault);
}

/** Change a project that was read, again where another change came between. */
export function changeProject(
  { records, now }: Pick<MlflowContext, 'records' | 'now'>,
  { project_id }: Pick<Project, 'project_id'>,
  change: (project: Project) => ProjectChange,
): Promise<void> {
  return retryOnConflict(async () => {
    const project = await requireProject(records, project_id);
    await updateProject(records, project, change(project), now());
  });
}
