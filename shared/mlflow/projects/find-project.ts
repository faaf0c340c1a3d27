import { Ulid } from '../../core/formats.ts';
import { reachesProject, requireScope } from '../../data/accounts/token-scope.ts';
import {
  claimName,
  createProject,
  findClaimedName,
  findProjects,
  newProjectId,
  ownedProjects,
  type Project,
} from '../../data/projects/project.ts';
import { pagesOf } from '../../data/table/pages-of.ts';
import { retryOnConflict } from '../../data/table/retry-on-conflict.ts';
import { type Access, type MlflowContext, requireAccess, requireDeveloper } from '../protocol/context.ts';
import { doesNotExist } from '../protocol/mlflow-error.ts';
import { noteTag } from './show-experiment.ts';

interface Finding extends Pick<MlflowContext, 'records'> {
  caller: Pick<MlflowContext['caller'], 'user_id' | 'scope'>;
}

/** Id and name of the experiment that clients use by default. */
const defaultId = '0';
const defaultName = 'Default';

const readAtOnce = 100;

/** The projects that the caller owns or is a member of, and the scope of their token includes, newest first. */
export async function* ownAndShared({ records, caller }: Finding): AsyncGenerator<Project> {
  for await (const page of pagesOf((after) =>
    ownedProjects.newest(records, caller.user_id, { limit: readAtOnce, after }),
  )) {
    const { items } = await findProjects(
      records,
      page.items.filter((id) => reachesProject(caller, id)),
    );
    yield* items;
  }
}

/**
 * Find the project with this name: the one that the caller created through this API, else the newest one that the
 * caller owns or is a member of. Only this API needs unique project names, because it addresses projects by name.
 */
export async function findByName(context: Finding, name: string): Promise<Project | undefined> {
  const { records, caller } = context;
  const claimed = await findClaimedName(records, caller.user_id, name);
  const isReached = claimed !== undefined && reachesProject(caller, claimed);
  const [project] = isReached ? (await findProjects(records, [claimed])).items : [];
  if (project?.project_name === name && project.owner_id === caller.user_id) return project;
  let shared: Project | undefined;
  for await (const one of ownAndShared(context)) {
    if (one.project_name !== name) continue;
    if (one.owner_id === caller.user_id) return one;
    shared ??= one;
  }
  return shared;
}

/** Return the caller's project "Default". Create it if it does not exist. */
async function defaultProject(context: MlflowContext): Promise<Project> {
  return (
    (await findByName(context, defaultName)) ?? createNamedProject(context, { name: defaultName, tags: {} })
  );
}

/**
 * Find the project for an MLflow experiment id, and check that the caller has this access to it.
 * @throws ServiceError `not-found` with MLflow's code, `forbidden`
 */
export async function requireExperimentProject(
  context: MlflowContext,
  experiment_id: string,
  access: Access,
): Promise<Project> {
  const { job } = context;
  if (job !== undefined)
    return requireAccess(
      context,
      experiment_id === defaultId ? job.project.project_id : experiment_id,
      access,
    );
  if (experiment_id === defaultId) {
    const { project_id } = await defaultProject(context);
    return requireAccess(context, project_id, access);
  }
  if (!Ulid.safeParse(experiment_id).success)
    throw doesNotExist(`No Experiment with id=${experiment_id} exists`);
  return requireAccess(context, experiment_id, access);
}

/** Type and task of a project that an MLflow client creates. The client sends neither. */
const made = { project_type: 'mlflow', project_task: 'other' };

/**
 * Create a project with this name for the caller. Concurrent requests create one project: the later ones return
 * the first one's project.
 * @throws ServiceError `forbidden` for accounts that may only read, and tokens whose scope includes no new project
 */
export function createNamedProject(
  context: MlflowContext,
  { name, tags }: { name: string; tags: Readonly<Record<string, string>> },
): Promise<Project> {
  requireDeveloper(context);
  requireScope(context.caller, { right: 'record' });
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
    context.noteAudit({ project_id: project.project_id });
    await createProject(records, project, [claimName(caller.user_id, name, project.project_id, claimed)]);
    return project;
  });
}
