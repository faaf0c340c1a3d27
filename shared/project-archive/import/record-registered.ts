import { maxRegisteredName } from '../../data/experiments/logged-model-rules.ts';
import {
  findRegisteredModel,
  latestOf,
  listRegisteredModels,
  modelVersions,
  putModelVersion,
  putRegisteredModel,
  type RegisteredModel,
  removeRegisteredModel,
  versionsPrefix,
} from '../../data/models/registered-model.ts';
import { findProjects, projectExists } from '../../data/projects/project.ts';
import { importUnmoved, maxRenamed, type ProjectImport } from '../../data/projects/project-archives.ts';
import { newPurge, recordPurge } from '../../data/projects/purge.ts';
import { pagesOf } from '../../data/table/pages-of.ts';
import type { TableReader, Write } from '../../data/table/table.ts';
import { tryWrite, WriteLabel } from '../../data/table/write-label.ts';
import { ProjectArchiveError } from '../project-archive-error.ts';
import { type Ids, resolver, withTexts } from '../references.ts';
import { type ImportContext, type ImportPass, importedId, numberOfImported } from './import-context.ts';
import type { OpenArchive } from './open-archive.ts';
import { otherName } from './other-name.ts';
import { fileAt, readRegistered, readVersions } from './read-document.ts';

/**
 * Record a registered model: its versions, then the model itself, in one transaction with the progress of the
 * import. It keeps its name, unless another model in this deployment has it.
 * @param done number of finished steps afterwards
 * @returns false if the project was deleted
 * @throws ProjectArchiveError
 */
export async function recordRegistered(
  context: ImportContext,
  pass: ImportPass,
  archive: OpenArchive,
  ids: Ids,
  number: number,
  done: number,
): Promise<boolean> {
  const { value } = pass;
  const { records } = context;
  const { import_id, project_id, user_id, renamed } = value;
  const group = archive.contents.registered[number - 1];
  if (group === undefined) throw new Error(`no registered model ${number}`);
  const registration_id = importedId(import_id, 'registered', number);
  const resolve = resolver(ids);
  const file = fileAt(archive.files, group.document);
  const document = await readRegistered(archive, archive.read(group.document), file);
  const { name, aliases, description, tags, created_at, updated_at } = document;
  const [index = 0] = group.rest;
  const versions = await storeVersions(context, value, archive, index, registration_id, resolve);
  const model: Omit<RegisteredModel, 'name'> = {
    registration_id,
    ...withTexts({ description, tags }, resolve),
    owner_id: user_id,
    aliases,
    latest: latestOf(versions),
    versions: Math.max(...versions.map((version) => version.number)),
    created_at,
    updated_at,
    version: 1,
  };
  const other = otherName(name, import_id, maxRegisteredName);
  for (const registered_as of [name, other]) {
    if ((await findRegisteredModel(records, registered_as)) !== undefined) continue;
    const isRenamed = registered_as !== name;
    const told = isRenamed ? [...renamed, { name, registered_as }].slice(0, maxRenamed) : renamed;
    const put = { ...model, name: registered_as, ...(isRenamed && { archived_name: name }) };
    try {
      await pass.save(
        { done, failures: 0, renamed: told },
        projectExists(project_id),
        nameFree.on(putRegisteredModel(put, undefined)),
      );
      return true;
    } catch (error) {
      // Another request took the name at the same moment.
      if (nameFree.failedIn(error)) continue;
      if ((await findProjects(records, [project_id])).items.length === 0) return false;
      throw error;
    }
  }
  throw new ProjectArchiveError(`The names ${name} and ${other} are already taken in this deployment.`);
}

/** Store the versions. No reader sees them before their model exists. @returns their numbers and stages */
async function storeVersions(
  { records }: ImportContext,
  value: ProjectImport,
  archive: OpenArchive,
  index: number,
  registration_id: string,
  resolve: (text: string) => string,
) {
  const { user_id } = value;
  const fence = importUnmoved(value);
  const stored: { number: number; stage: string }[] = [];
  let puts: Write[] = [];
  // Keep existing versions: their owner may have changed them since.
  const store = async () => {
    if (await tryWrite(records.write(fence, ...puts))) return;
    for (const put of puts) await tryWrite(records.write(fence, put));
  };
  for await (const read of readVersions(archive, archive.read(index), fileAt(archive.files, index))) {
    const { user: username, number, stage, created_at, updated_at, ...said } = read;
    const own = { registration_id, number, stage, user_id, username, created_at, updated_at, version: 1 };
    puts.push(putModelVersion({ ...withTexts(said, resolve), ...own }, undefined));
    stored.push({ number, stage });
    if (puts.length < versionsAtOnce) continue;
    await store();
    puts = [];
  }
  if (puts.length > 0) await store();
  return stored;
}

/** Maximum number of versions of one write. Each may fill an item, and a write holds 4 MB. */
const versionsAtOnce = 10;

const nameFree = new WriteLabel('name of a registered model');

/**
 * Remove the registered models of a failed import, and versions whose model was not recorded. Repeating it is
 * harmless.
 */
export async function removeRegistered(context: ImportContext, value: ProjectImport): Promise<void> {
  const { records } = context;
  const ids = await registrationsOf(records, value);
  if (ids.size === 0) return;
  for await (const model of modelsOf(records, ids)) await records.write(removeRegisteredModel(model));
  for (const id of ids) {
    const versions = { pk: modelVersions, prefix: versionsPrefix(id) };
    await records.write(recordPurge(newPurge(context, { partitions: [versions], prefixes: [] })));
  }
}

/** Find the registrations of an import that has recorded versions. Ids of one import begin with its time. */
async function registrationsOf(records: Records, { import_id }: ProjectImport): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const page of pagesOf((after) =>
    records.query({ pk: modelVersions, prefix: import_id.slice(0, 10), after }),
  )) {
    for (const { sk } of page.items) {
      const id = sk.split('#')[0] ?? '';
      if (importedId(import_id, 'registered', numberOfImported(id)) === id) found.add(id);
    }
  }
  return found;
}

type Records = TableReader<'records'>;

async function* modelsOf(records: Records, ids: ReadonlySet<string>): AsyncGenerator<RegisteredModel> {
  for await (const page of pagesOf((after) => listRegisteredModels(records, { after }))) {
    for (const model of page.items) if (ids.has(model.registration_id)) yield model;
  }
}
