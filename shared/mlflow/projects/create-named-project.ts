import {
  claimName,
  createProject,
  findClaimedName,
  findProjects,
  newProjectId,
  type Project,
} from '../../data/projects/project.ts';
import { retryOnConflict } from '../../data/table/retry-on-conflict.ts';
import { type MlflowContext, requireDeveloper } from '../protocol/context.ts';
import { noteTag } from './show-experiment.ts';

/** Type and task of a project that an MLflow client makes, which names neither. */
const made = { project_type: 'mlflow', project_task: 'other' };

/**
 * Make a project of this name for the caller, once however many ask at the same moment: those that come second get the
 * first one's.
 */
export function createNamedProject(
  context: MlflowContext,
  { name, tags }: { name: string; tags: Readonly<Record<string, string>> },
): Promise<Project> {
  requireDeveloper(context);
  const { records, caller, newId, now } = context;
  const { [noteTag]: project_description = '', ...others } = tags;
  return retryOnConflict(async () => {
    const claimed = await findClaimedName(records, caller.user_id, name);
    const [present] = claimed === undefined ? [] : (await findProjects(records, [claimed])).items;
    if (present?.project_name === name && present.owner_id === caller.user_id) return present;
    const created_at = now().toISOString();
    const project: Project = {
      project_id: await newProjectId(records, newId()),
      project_name: name,
      project_description,
      ...made,
      owner: caller.username,
      owner_id: caller.user_id,
      created_at,
      updated_at: created_at,
      ...(Object.keys(others).length > 0 && { tags: others }),
      version: 1,
    };
    await createProject(records, project, [claimName(caller.user_id, name, project.project_id, claimed)]);
    return project;
  });
}
