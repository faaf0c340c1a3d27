import * as z from 'zod';
import type { ServiceError } from '../../core/service-error.ts';
import {
  claimName,
  findClaimedName,
  type Project,
  type ProjectChange,
  requireProject,
  updateProject,
} from '../../data/projects/project.ts';
import { ClientProjectName, faultOfProjectTags, ProjectTag } from '../../data/projects/project-rules.ts';
import { retain } from '../../data/projects/purge.ts';
import { retryOnConflict } from '../../data/table/retry-on-conflict.ts';
import { filterRows } from '../../search/filter-rows.ts';
import { RowOrder } from '../../search/row-order.ts';
import { selectPage } from '../../search/select-page.ts';
import type { Vocabulary } from '../../search/vocabulary.ts';
import { type MlflowContext, requireDeveloper } from '../protocol/context.ts';
import { doesNotExist, invalidValue, mlflowError } from '../protocol/mlflow-error.ts';
import { allowing, type Route, route } from '../protocol/route.ts';
import { namedValue, text } from '../protocol/scalars.ts';
import {
  answerPage,
  isInView,
  pageAfter,
  readFilter,
  readOrder,
  searchFields,
  viewType,
} from '../protocol/search-fields.ts';
import { createNamedProject, findByName, ownAndShared, requireExperimentProject } from './find-project.ts';
import { noteTag, showExperiment, tagsOfProject } from './show-experiment.ts';

const name = text.pipe(ClientProjectName);

const tag = namedValue.extend({
  value: text.pipe(ProjectTag).default(''),
});

const create = route(
  'POST mlflow/experiments/create',
  z.object({ name, artifact_location: text.optional(), tags: z.array(tag).default([]) }),
  async (input, context) => {
    requireDeveloper(context);
    const present = await findByName(context, input.name);
    if (present?.owner_id === context.caller.user_id) throw alreadyExists(input.name);
    const tags = Object.fromEntries(input.tags.map(({ key, value }) => [key, value]));
    requireTagRoom(tags);
    const { project_id } = await createNamedProject(context, { name: input.name, tags });
    return { experiment_id: project_id };
  },
);

const alreadyExists = (taken: string): ServiceError =>
  mlflowError('RESOURCE_ALREADY_EXISTS', `Experiment(name=${taken}) already exists.`);

const experiment_id = text.min(1);

const get = route('GET mlflow/experiments/get', z.object({ experiment_id }), async (input, context) => ({
  experiment: showExperiment(await requireExperimentProject(context, input.experiment_id, 'viewer')),
}));

const getByName = route(
  'GET mlflow/experiments/get-by-name',
  z.object({ experiment_name: text.min(1) }),
  async ({ experiment_name }, context) => {
    const project = await findByName(context, experiment_name);
    if (project === undefined) throw doesNotExist(`Could not find experiment with name '${experiment_name}'`);
    return { experiment: showExperiment(project) };
  },
);

const update = route(
  'POST mlflow/experiments/update',
  z.object({ experiment_id, new_name: name }),
  async ({ experiment_id: id, new_name }, context) => {
    const project = await requireExperimentProject(context, id, 'developer');
    if (project.deleted_at !== undefined)
      throw mlflowError('BAD_REQUEST', 'Cannot rename a deleted experiment; restore it first.');
    const present = await findByName(context, new_name);
    if (present !== undefined && present.project_id !== project.project_id) throw alreadyExists(new_name);
    await changeProject(context, project, () => ({ project_name: new_name }));
    const { records, caller } = context;
    if (project.owner_id === caller.user_id) {
      const claimed = await findClaimedName(records, caller.user_id, new_name);
      await records.write(claimName(caller.user_id, new_name, project.project_id, claimed));
    }
    return {};
  },
);

/** Mark a project as deleted, or restore it. */
const marking = (path: string, deletes: boolean): Route =>
  route(`POST mlflow/experiments/${path}`, z.object({ experiment_id }), async (input, context) => {
    const { project_id, deleted_at } = await requireExperimentProject(context, input.experiment_id, 'owner');
    if (deletes === (deleted_at !== undefined)) {
      const state = deletes ? 'active' : 'deleted';
      throw mlflowError('RESOURCE_DOES_NOT_EXIST', `No ${state} experiment with id=${project_id} exists`);
    }
    const at = deletes ? context.now().toISOString() : null;
    if (at !== null)
      await context.records.write(...retain({ project_id, experiment_id: null, deleted_at: at }));
    await changeProject(context, { project_id }, () => ({ deleted_at: at }));
    return {};
  });

const setTag = route(
  'POST mlflow/experiments/set-experiment-tag',
  z.object({ experiment_id, ...tag.shape }),
  async ({ experiment_id: id, key, value }, context) => {
    const project = await requireExperimentProject(context, id, 'developer');
    if (project.deleted_at !== undefined)
      throw mlflowError('INVALID_PARAMETER_VALUE', `The experiment ${id} must be in the 'active' state.`);
    await changeProject(context, project, ({ tags = {} }) => {
      if (key === noteTag) return { project_description: value };
      const changed = { ...tags, [key]: value };
      requireTagRoom(changed);
      return { tags: changed };
    });
    return {};
  },
);

const deleteTag = route(
  'POST mlflow/experiments/delete-experiment-tag',
  z.object({ experiment_id, key: text.min(1) }),
  async ({ experiment_id: id, key }, context) => {
    const project = await requireExperimentProject(context, id, 'developer');
    const { tags = {} } = project;
    const isNote = key === noteTag && project.project_description !== '';
    if (!isNote && !Object.hasOwn(tags, key))
      throw doesNotExist(`No tag with name: ${key} in experiment with id ${id}`);
    await changeProject(context, project, (present) => {
      if (isNote) return { project_description: '' };
      const { [key]: _, ...others } = present.tags ?? {};
      return { tags: others };
    });
    return {};
  },
);

const searchExperimentsRoute = route(
  'POST mlflow/experiments/search',
  z.object({ ...searchFields, view_type: viewType }),
  async ({ filter, order_by, max_results, page_token, view_type }, context) => {
    const wanted = readFilter(filter, experimentVocabulary);
    const order = new RowOrder<Project>(
      readOrder(order_by, experimentVocabulary),
      ({ project_id }) => project_id,
    );
    const after = pageAfter(page_token, order);
    const projects: Project[] = [];
    for await (const project of ownAndShared(context)) {
      if (isInView(view_type, project.deleted_at !== undefined)) projects.push(project);
    }
    const page = await selectPage(await filterRows(projects, wanted), order, { limit: max_results, after });
    return answerPage('experiments', page, order, (rows) => rows.map(showExperiment));
  },
);

const created = { type: 'time', read: ({ created_at }: Project) => Date.parse(created_at) } as const;
const updated = { type: 'time', read: ({ updated_at }: Project) => Date.parse(updated_at) } as const;

/** Names that filters and orders of experiments may use. */
const experimentVocabulary: Vocabulary<Project> = {
  attributes: {
    name: { type: 'text', read: ({ project_name }) => project_name },
    experiment_id: { type: 'text', read: ({ project_id }) => project_id },
    creation_time: created,
    last_update_time: updated,
  },
  groups: { tags: { type: 'text', read: (project, key) => tagsOfProject(project)[key] } },
  groupAliases: { tag: 'tags' },
};

export const experimentRoutes: readonly Route[] = [
  ...allowing('read', [get, getByName, searchExperimentsRoute, { ...searchExperimentsRoute, method: 'GET' }]),
  ...allowing('record', [setTag]),
  // No scope with projects has a new one.
  ...allowing('record', [create], false),
  update,
  marking('delete', true),
  marking('restore', false),
  deleteTag,
];

function requireTagRoom(tags: Readonly<Record<string, string>>): void {
  const fault = faultOfProjectTags(tags);
  if (fault !== undefined) throw invalidValue('tags', Object.keys(tags).length, fault);
}

/** Change a project. Retry if another change came between. */
function changeProject(
  { records, now }: Pick<MlflowContext, 'records' | 'now'>,
  { project_id }: Pick<Project, 'project_id'>,
  change: (project: Project) => ProjectChange,
): Promise<void> {
  return retryOnConflict(async () => {
    const project = await requireProject(records, project_id);
    await updateProject(records, project, change(project), now());
  });
}
