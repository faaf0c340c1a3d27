import { findUser } from '../../data/accounts/user.ts';
import { type Config, putImportedConfig, putImportedVersion } from '../../data/projects/config.ts';
import { putImportedEnvironment } from '../../data/projects/environment.ts';
import {
  claimName,
  count,
  findClaimedName,
  newProjectWrites,
  type Project,
  projectExists,
} from '../../data/projects/project.ts';
import { importUnmoved, keepImported, type ProjectImport } from '../../data/projects/project-archives.ts';
import { maxClientName } from '../../data/projects/project-rules.ts';
import { isAccepted, putAccepted, putCurrent } from '../../data/projects/upload.ts';
import { putImportedVariables } from '../../data/projects/variable.ts';
import type { Write } from '../../data/table/table.ts';
import { ConditionFailedError, tryWrite, WriteLabel } from '../../data/table/write-label.ts';
import { findByName } from '../../mlflow/projects/find-project.ts';
import type { ProjectDocument } from '../documents.ts';
import { ProjectArchiveError } from '../project-archive-error.ts';
import { type ImportContext, type ImportPass, importedId } from './import-context.ts';
import type { OpenArchive } from './open-archive.ts';
import { otherName } from './other-name.ts';
import { fileAt, readConfig, readConfigBytes, readProject } from './read-document.ts';

const nameFree = new WriteLabel('name of a project');

/**
 * Create the project in one transaction with the stage of the import, its environment and its variables: its owner
 * may change these as soon as the project exists. From then on, the project owns the stored objects. It keeps its name, unless its owner already has a project with that name.
 * @throws ProjectArchiveError if the user may no longer create projects
 * @throws ConditionFailedError if another pass continued the import
 */
export async function makeProject(
  { accounts, records, now }: ImportContext,
  pass: ImportPass,
  archive: OpenArchive,
): Promise<void> {
  const { value } = pass;
  const user = await findUser(accounts, value.user_id);
  if (user === undefined || !['admin', 'developer'].includes(user.account_type))
    throw new ProjectArchiveError('The user who started the import may no longer create projects.');
  const document = await readProject(archive, archive.read(archive.contents.project));
  const {
    project_name: name,
    project_description,
    project_type,
    project_task,
    criterion,
    tags,
    rules,
    views,
    baseline,
  } = document;
  const created_at = now().toISOString();
  const { user_id } = user;
  const other = otherName(name, value.import_id, maxClientName);
  for (const project_name of [name, other]) {
    // MLflow's API and the command find a project by its name.
    if ((await findByName({ records, caller: user }, project_name)) !== undefined) continue;
    const isRenamed = project_name !== name;
    const project: Project = {
      project_id: value.project_id,
      project_name,
      ...(isRenamed && { archived_name: name }),
      project_description,
      project_type,
      project_task,
      ...(criterion !== null && { criterion }),
      ...(tags !== null && { tags }),
      ...(rules !== undefined && { rules }),
      ...(views !== undefined && { views }),
      ...(baseline !== undefined && { baseline: importedId(value.import_id, 'experiment', baseline) }),
      owner: user.username,
      owner_id: user_id,
      created_at,
      updated_at: created_at,
      version: 1,
    };
    const claimed = await findClaimedName(records, user_id, project_name);
    const project_renamed = isRenamed ? { name, imported_as: project_name } : null;
    try {
      return await pass.save(
        {
          stage: 'recording',
          done: 0,
          failures: 0,
          project_renamed,
          schedules: archive.contents.schedules.length,
        },
        ...newProjectWrites(project),
        keepImported(value.import_id),
        nameFree.on(claimName(user_id, project_name, value.project_id, claimed)),
        ...settingsOf(value, document),
      );
    } catch (error) {
      // Another request took the name at the same moment.
      if (!nameFree.failedIn(error)) throw error;
    }
  }
  throw new ProjectArchiveError(`You already have projects named ${name} and ${other}.`);
}

/** Environment and variables of the project. */
function settingsOf(
  { project_id }: ProjectImport,
  { environment, variables }: Pick<ProjectDocument, 'environment' | 'variables'>,
): Write[] {
  return [
    ...(environment === null
      ? []
      : [putImportedEnvironment({ project_id, lock_hash: null, ...environment })]),
    ...(variables.length === 0
      ? []
      : [
          putImportedVariables({
            project_id,
            variables: variables.map((variable) => ({ ...variable, sealed: null })),
            versions_before: 0,
            version: 1,
          }),
        ]),
  ];
}

const present = new WriteLabel('what the owner has stored');

/** Record an item of the project, unless it exists: its owner may have stored a newer one since. */
async function recordUnlessPresent(
  { records }: ImportContext,
  value: ProjectImport,
  put: Write,
): Promise<void> {
  try {
    await records.write(
      importUnmoved(value),
      projectExists(value.project_id),
      present.on({ ...put, if: { exists: false } }),
    );
  } catch (error) {
    if (!(error instanceof ConditionFailedError && error.isOnly(present))) throw error;
  }
}

async function recordUploads(
  context: ImportContext,
  value: ProjectImport,
  { files, contents }: OpenArchive,
  { source, datasets }: ProjectDocument,
): Promise<void> {
  const { records, projectBytes } = context;
  const { project_id } = value;
  const sizes = new Map<string, number>();
  for (const index of contents.uploads) {
    const { path, placed, size } = fileAt(files, index);
    if (placed.of !== 'upload') continue;
    sizes.set(path, size);
    if (await isAccepted(records, placed.kind, project_id, placed.sha256)) continue;
    await records.write(
      importUnmoved(value),
      { ...putAccepted(placed.kind, project_id, placed.sha256, size), if: { exists: false } },
      count(project_id, { objects: 1, bytes: size }, projectBytes),
    );
  }
  const current = [
    ...(source === null ? [] : [{ kind: 'source' as const, name: 'source', ...source }]),
    ...datasets.map((dataset) => ({ kind: 'dataset' as const, ...dataset })),
  ];
  for (const { kind, ...one } of current) {
    const size = sizes.get(`${kind}s/${one.sha256}`) ?? 0;
    await recordUnlessPresent(context, value, putCurrent(kind, { project_id, size, ...one }));
  }
}

async function recordConfigs(
  { records }: ImportContext,
  value: ProjectImport,
  archive: OpenArchive,
): Promise<void> {
  const { project_id, import_id } = value;
  for (const [number, { document, rest }] of archive.contents.configs.entries()) {
    const file = fileAt(archive.files, document);
    const read = await readConfig(archive, archive.read(document), file);
    if (file.placed.of !== 'config') throw new Error(`${file.path} is not a configuration`);
    const { config_id } = file.placed;
    const { size, sha256 } = fileAt(archive.files, rest.at(-1) ?? document);
    const generation = importedId(import_id, 'file', archive.files.length + number);
    const config: Config = { project_id, config_id, ...read, size, sha256, generation };
    for (const index of rest) {
      const { placed, created_at, ...one } = fileAt(archive.files, index);
      if (placed.of !== 'config-version') throw new Error(`${one.path} is not a version`);
      const content = await readConfigBytes(archive.read(index), one);
      const kept = { content, updated_at: created_at ?? null };
      await records.write(
        importUnmoved(value),
        projectExists(project_id),
        putImportedVersion(config, placed.version, kept),
      );
    }
    const put: Write = { ...putImportedConfig(config), if: { exists: false } };
    await tryWrite(records.write(importUnmoved(value), put, count(project_id, { configs: 1 })));
  }
}

/**
 * Record everything in a project except its experiments and models. Repeating it is harmless.
 * @throws ConditionFailedError if another pass continued the import, or the project was deleted or is full
 */
export async function recordBase(
  context: ImportContext,
  value: ProjectImport,
  archive: OpenArchive,
): Promise<void> {
  const document = await readProject(archive, archive.read(archive.contents.project));
  await recordUploads(context, value, archive, document);
  await recordConfigs(context, value, archive);
  // An earlier release made the project without them.
  for (const put of settingsOf(value, document)) await recordUnlessPresent(context, value, put);
}
