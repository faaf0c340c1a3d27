import {
  listRegisteredModels,
  modelVersions,
  type RegisteredModel,
  removeRegisteredModel,
  versionsPrefix,
} from '../../data/models/registered-model.ts';
import type { ProjectImport } from '../../data/projects/project-archives.ts';
import { newPurge, recordPurge } from '../../data/projects/purge.ts';
import type { TableReader } from '../../data/table/table.ts';
import { type ImportContext, importedId, numberOfImported } from './import-context.ts';

type Records = TableReader<'records'>;

/** The registrations of an import that has recorded versions. Ids of one import begin with its time. */
async function registrationsOf(records: Records, { import_id }: ProjectImport): Promise<Set<string>> {
  const found = new Set<string>();
  let after: string | undefined;
  do {
    const page = await records.query({ pk: modelVersions, prefix: import_id.slice(0, 10), after });
    for (const { sk } of page.items) {
      const id = sk.split('#')[0] ?? '';
      if (importedId(import_id, 'registered', numberOfImported(id)) === id) found.add(id);
    }
    after = page.next;
  } while (after !== undefined);
  return found;
}

async function* modelsOf(records: Records, ids: ReadonlySet<string>): AsyncGenerator<RegisteredModel> {
  let after: string | undefined;
  do {
    const page = await listRegisteredModels(records, { after });
    for (const model of page.items) if (ids.has(model.registration_id)) yield model;
    after = page.next;
  } while (after !== undefined);
}

/** Remove the registered models of an import that failed, and versions whose model was not recorded. It may be repeated. */
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
