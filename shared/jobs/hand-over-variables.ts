import { derivedKey, newKey, openSealed, seal, UnopenableError } from '../core/seal.ts';
import { jobPartition } from '../data/jobs/job.ts';
import { finalRank } from '../data/jobs/job-status.ts';
import { type JobVariables, jobVariablesPurpose, putJobVariables } from '../data/jobs/job-variables.ts';
import { readVariables, type StoredVariable, secretPurpose } from '../data/projects/variable.ts';
import { findVariablesKey } from '../data/projects/variables-key.ts';
import type { TableReader, TableWriter } from '../data/table/table.ts';
import { tryWrite } from '../data/table/try-write.ts';
import { isStrategy, type JobRecord, jobIdOf, unfinishedJobOf } from './subject.ts';

/** The secrets of a project cannot be opened. The message is for the user who started the job. */
export class LostVariablesError extends Error {
  override readonly name = 'LostVariablesError';
}

/** The values of stored variables. @throws LostVariablesError */
function openVariables(
  key: Uint8Array | undefined,
  project_id: string,
  stored: readonly StoredVariable[],
): JobVariables {
  const lost: string[] = [];
  const openOne = (name: string, sealed: Uint8Array): string => {
    try {
      if (key !== undefined) return openSealed(key, sealed, secretPurpose(project_id, name));
    } catch (error) {
      if (!(error instanceof UnopenableError)) throw error;
    }
    lost.push(name);
    return '';
  };
  const opened = stored.map(({ name, value, sealed }) => ({
    name,
    value: sealed === null ? (value ?? '') : openOne(name, sealed),
    secret: sealed !== null,
  }));
  if (lost.length === 0) return opened;
  throw new LostVariablesError(
    `The secret variables ${lost.join(', ')} of the project cannot be decrypted any more. Write their values again.`,
  );
}

/**
 * Copy the variables of the project of a training into the job's partition, encrypted under a key of this job alone.
 * Return the variables of the container, the key among them; none where the project has no variables. Can be repeated: the key
 * of a job is always the same. The end of the job removes the copy in its own transaction, and a job that has ended gets none.
 * @throws LostVariablesError
 */
export async function handOverVariables(
  records: TableWriter<'records'>,
  keys: TableReader<'accounts'> | undefined,
  record: JobRecord,
): Promise<Record<string, string>> {
  if (isStrategy(record)) return {};
  const { variables: stored } = await readVariables(records, record.project_id);
  if (stored.length === 0) return {};
  if (keys === undefined) throw new Error('a training is submitted where the key of variables is not needed');
  const key = await findVariablesKey(keys);
  const opened = openVariables(key, record.project_id, stored);
  const job_id = jobIdOf(record);
  const purpose = jobVariablesPurpose(job_id);
  // Without a key there are no secrets, but every copy is encrypted.
  const jobKey = key === undefined ? newKey() : derivedKey(key, purpose);
  const sealed = seal(jobKey, JSON.stringify(opened), purpose);
  const copied = records.write(
    { check: unfinishedJobOf(record).subject, if: { below: { status_rank: finalRank } } },
    putJobVariables(jobPartition(job_id), sealed, new Date()),
  );
  // Otherwise it has ended, and its container stops at once.
  return (await tryWrite(copied)) ? { VARIABLES_KEY: jobKey.toString('base64url') } : {};
}
