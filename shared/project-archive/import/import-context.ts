import { createHash } from 'node:crypto';
import type { ObjectWriter } from '../../aws/objects.ts';
import type { Settings } from '../../core/settings.ts';
import { type ArtifactKind, artifactObject } from '../../data/experiments/artifact.ts';
import { clientObject } from '../../data/experiments/client-artifact.ts';
import { importProgress, type ProjectImport } from '../../data/projects/project-archives.ts';
import type { TableReader, TableWriter, Write } from '../../data/table/table.ts';
import { ConditionFailedError } from '../../data/table/write-label.ts';
import type { Pass } from '../archive-limits.ts';
import type { Ids } from '../references.ts';

/** Dependencies of an import. */
export interface ImportContext {
  records: TableWriter<'records'>;
  accounts: TableReader<'accounts'>;
  objects: ObjectWriter;
  newId(): string;
  now(): Date;
  deployment: Deployment;
  /** Maximum bytes of a project. */
  projectBytes: number;
}

/** Settings that limit the environments in a deployment. */
export type Deployment = Pick<Settings, 'packageIndexes' | 'trustedImages'>;

/** A pass over an import. */
export type ImportPass = Pass<ProjectImport>;

/**
 * Record something in one transaction with the progress of the import.
 * @returns false if a condition of `writes` does not hold
 * @throws ConditionFailedError if another pass continued the import
 */
export async function saveWith(
  pass: ImportPass,
  done: number,
  ...writes: readonly Write[]
): Promise<boolean> {
  try {
    await pass.save({ done, failures: 0 }, ...writes);
    return true;
  } catch (error) {
    if (!(error instanceof ConditionFailedError) || importProgress.failedIn(error)) throw error;
    return false;
  }
}

/**
 * Derive the id of an imported item. It is the same each time a step is repeated. It is a ULID with the time of
 * the import, and ids sort by number.
 */
export function importedId(
  import_id: string,
  kind: 'experiment' | 'model' | 'file' | 'registered' | 'report' | 'schedule',
  number: number,
): string {
  const digest = createHash('sha256').update(`${import_id} ${kind} ${number}`).digest('hex');
  return `${import_id.slice(0, 10)}${inDigits(BigInt(number), 5)}${inDigits(BigInt(`0x${digest.slice(0, 14)}`), 11)}`;
}

/** Encode a number in the digits of ULIDs. */
function inDigits(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 32n) text = `${digits[Number(rest % 32n)]}${text}`;
  return text;
}

const digits = '0123456789abcdefghjkmnpqrstvwxyz';

/** Extract the number from such an id. */
export const numberOfImported = (id: string): number =>
  [...id.slice(10, 15)].reduce((sum, digit) => sum * 32 + digits.indexOf(digit), 0);

/** Derive the ids of all imported experiments and models, by number. */
export const idsOf = (
  { import_id, project_id }: ProjectImport,
  { experiments, models }: { experiments: number; models: number },
): Ids => {
  const ids = (kind: 'experiment' | 'model', count: number) =>
    Array.from({ length: count }, (_, index) => importedId(import_id, kind, index + 1));
  return { project_id, experiments: ids('experiment', experiments), models: ids('model', models) };
};

/** Object key of an imported artifact, by its file's index in the archive. */
export const importedFile = (
  { import_id, project_id }: ProjectImport,
  experiment_id: string,
  kind: ArtifactKind,
  index: number,
): string => artifactObject(project_id, experiment_id, importedId(import_id, 'file', index), kind);

/** Object key of an imported file of a logged model. */
export const importedModelFile = (
  { import_id, project_id }: ProjectImport,
  model_id: string,
  index: number,
): string => clientObject({ of: 'model', project_id, model_id }, importedId(import_id, 'file', index));
