import { Ulid } from '../../core/formats.ts';
import { findClaimedName, findProjects, ownedProjects, type Project } from '../../data/projects/project.ts';
import type { Access, MlflowContext } from '../protocol/context.ts';
import { requireAccess } from '../protocol/context.ts';
import { doesNotExist } from '../protocol/mlflow-error.ts';
import { createNamedProject } from './create-named-project.ts';

interface Finding extends Pick<MlflowContext, 'records'> {
  caller: Pick<MlflowContext['caller'], 'user_id'>;
}

/** Id and name of the experiment that clients use where nobody named one. */
const defaultId = '0';
const defaultName = 'Default';

const readAtOnce = 100;

/** The projects that the caller owns or is a member of, newest first. */
export async function* ownAndShared({ records, caller }: Finding): AsyncGenerator<Project> {
  let after: string | undefined;
  do {
    const page = await ownedProjects.newest(records, caller.user_id, { limit: readAtOnce, after });
    yield* (await findProjects(records, page.items)).items;
    after = page.next;
  } while (after !== undefined);
}

/**
 * The project of a name: one that the caller made by this API, or else the newest of those that they own or are a member
 * of. Names of projects are unique only here, because here a name says which one is meant.
 */
export async function findByName(context: Finding, name: string): Promise<Project | undefined> {
  const { records, caller } = context;
  const claimed = await findClaimedName(records, caller.user_id, name);
  const [project] = claimed === undefined ? [] : (await findProjects(records, [claimed])).items;
  if (project?.project_name === name && project.owner_id === caller.user_id) return project;
  let shared: Project | undefined;
  for await (const one of ownAndShared(context)) {
    if (one.project_name !== name) continue;
    if (one.owner_id === caller.user_id) return one;
    shared ??= one;
  }
  return shared;
}

/** The caller's project "Default", which is made where there is none. */
async function defaultProject(context: MlflowContext): Promise<Project> {
  return (
    (await findByName(context, defaultName)) ?? createNamedProject(context, { name: defaultName, tags: {} })
  );
}

/**
 * The project that an experiment id of MLflow names, for a caller who may do this in it.
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
