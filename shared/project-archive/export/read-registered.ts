import {
  findModelVersions,
  findRegisteredModel,
  type ModelVersion,
  versionStages,
} from '../../data/models/registered-model.ts';
import type { TableReader } from '../../data/table/table.ts';
import { canonicalJson } from '../canonical-json.ts';
import { type Names, withTexts } from '../references.ts';
import type { RegisteredDocument, VersionDocument } from '../registry-documents.ts';
import type { ContainedRegistered } from './export-context.ts';

/** Keys of one batch read. */
const readAtOnce = 100;

/** `model.json` of a registered model; undefined once it is gone, or has another name. */
export async function registeredDocument(
  records: TableReader<'records'>,
  { registration_id, name, archived_name, versions }: ContainedRegistered,
  names: Names,
): Promise<RegisteredDocument | undefined> {
  const found = await findRegisteredModel(records, name);
  if (found?.registration_id !== registration_id) return undefined;
  const { description, tags, created_at, updated_at } = found;
  const contained = new Set(versions);
  const aliases = Object.fromEntries(
    Object.entries(found.aliases).filter(([, number]) => contained.has(number)),
  );
  const said = withTexts({ description, tags }, names.inText);
  return { name: archived_name, ...said, aliases, created_at, updated_at };
}

function versionDocument(value: ModelVersion, names: Names): VersionDocument {
  const { number, username: user, stage, created_at, updated_at } = value;
  const { description, source, location, run_id, run_link, model_id, tags } = value;
  return {
    number,
    user,
    stage: versionStages.find((one) => one === stage) ?? 'None',
    created_at,
    updated_at,
    ...withTexts({ description, source, location, run_id, run_link, model_id, tags }, names.inText),
  };
}

/**
 * The lines of `versions.ndjson`.
 * @param changed the error for a version that is gone
 */
export async function* versionLines(
  records: TableReader<'records'>,
  { registration_id, name, versions }: ContainedRegistered,
  names: Names,
  changed: (what: string) => Error,
): AsyncGenerator<string> {
  for (let from = 0; from < versions.length; from += readAtOnce) {
    const ids = versions.slice(from, from + readAtOnce).map((number) => ({ registration_id, number }));
    const found = await findModelVersions(records, ids);
    if (found.length < ids.length) throw changed(`A version of the registered model ${name}`);
    yield found.map((value) => `${canonicalJson(versionDocument(value, names))}\n`).join('');
  }
}
