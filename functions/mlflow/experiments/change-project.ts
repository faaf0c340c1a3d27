import {
  type Project,
  type ProjectChange,
  requireProject,
  updateProject,
} from '../../../shared/data/project.ts';
import { retryOnConflict } from '../../../shared/data/retry-on-conflict.ts';
import type { MlflowContext } from '../protocol/context.ts';
import { invalidValue } from '../protocol/mlflow-error.ts';

/** Most bytes of the tags of a project: lists read them with it. */
const tagsMaxBytes = 64_000;

export function requireTagRoom(tags: Readonly<Record<string, string>>): void {
  const bytes = Buffer.byteLength(JSON.stringify(tags));
  if (bytes <= tagsMaxBytes) return;
  throw invalidValue(
    'tags',
    Object.keys(tags).length,
    `they have ${bytes} bytes; at most ${tagsMaxBytes} are kept`,
  );
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
