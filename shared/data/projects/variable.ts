import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { within } from '../../core/needs.ts';
import { keyBytes, newKey } from '../../core/seal.ts';
import { readAccounts, writeAccounts } from '../table/needs.ts';
import { Bytes, ofVersion, recordType, unreadableVersion } from '../table/record.ts';
import type { Key, TableReader, TableWriter, Write } from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';
import { projectExists } from './project.ts';

const storedVariable = () =>
  z.object({
    name: z.string(),
    /** The value of a variable that can be read; null for a secret. */
    value: z.string().nullable(),
    /** The encrypted value of a secret; null for a variable that can be read. */
    sealed: Bytes.nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
    /** Begins above the versions of all variables that were deleted, so no version of a name is given twice. */
    version: z.number().int(),
  });
/** A variable as it is stored. */
export type StoredVariable = z.infer<ReturnType<typeof storedVariable>>;

const variables = recordType('variables', () =>
  z.object({
    project_id: Ulid,
    /** In the order of their names. A list, because any name may stand in it, also one that objects have by themselves. */
    variables: z.array(storedVariable()),
    /** The highest version of a deleted variable. */
    versions_before: z.number().int(),
    /** Counts every change, also one that leaves no variable. */
    version: z.number().int(),
  }),
);
/** The environment variables of a project: one record, so that a job gets all of them as they were at one moment. */
export type Variables = z.infer<typeof variables.schema>;

/** Partition of a project's variables, which no role of a job reaches. */
export const variablesPartition = (project_id: string): string => `VARIABLES#${project_id}`;
const variablesKey = (project_id: string): Key => ({ pk: variablesPartition(project_id), sk: 'VARIABLES' });

/** What a secret is encrypted for: it opens under its own name in its own project alone. */
export const secretPurpose = (project_id: string, name: string): string =>
  `variable ${name} of ${project_id}`;

/** What a project has from the start. */
const none = (project_id: string): Variables => ({
  project_id,
  variables: [],
  versions_before: 0,
  version: 1,
});

/** The variables of a project; none where it never had any. */
export async function readVariables(records: TableReader<'records'>, project_id: string): Promise<Variables> {
  const item = await records.get(variablesKey(project_id));
  return item === undefined ? none(project_id) : variables.parse(item);
}

/** The variable of a name. */
export const findVariable = ({ variables }: Variables, name: string): StoredVariable | undefined =>
  variables.find((variable) => variable.name === name);

/** The variables that others are to replace, also where they cannot be read. */
export async function readVariablesToReplace(
  records: TableReader<'records'>,
  project_id: string,
): Promise<Variables & { exists: boolean }> {
  const item = await records.get(variablesKey(project_id));
  if (item === undefined) return { ...none(project_id), exists: false };
  return {
    ...variables.salvage(item, { ...none(project_id), version: unreadableVersion }),
    exists: true,
  };
}

/**
 * Store the variables of a project in the place of those that were read.
 * @throws ConditionFailedError when another version or the project's deletion came between
 */
export async function putVariables(
  records: TableWriter<'records'>,
  value: Variables,
  previous: { version: number; exists: boolean },
): Promise<void> {
  await records.write(projectExists(value.project_id), {
    put: variables.item(variablesKey(value.project_id), value),
    if: previous.exists ? ofVersion(previous.version) : { exists: false },
  });
}

/** The write that records the variables of an imported project. */
export const putImportedVariables = (value: Variables): Write => ({
  put: variables.item(variablesKey(value.project_id), value),
});

const partition = 'VARIABLES_KEY';
const key: Key = { pk: partition, sk: partition };

const keyRecord = recordType('variables-key', () =>
  z.object({
    key: Bytes.refine((bytes) => bytes.length === keyBytes, `must be ${keyBytes} bytes`),
    created_at: Timestamp,
  }),
);

// Marked as pure, so that a bundle holds the clients of what it needs alone.
/** The key of the deployment, to open secret variables with. */
export const readVariablesKey = /* @__PURE__ */ within(readAccounts, { partitions: [partition] });
/** The same, and making it with the first secret. */
export const makeVariablesKey = /* @__PURE__ */ within(writeAccounts, { partitions: [partition] });

/**
 * The key that encrypts the secret variables of all projects. It lies in the table of accounts, apart from what it
 * encrypts, where no job and no function without this need reaches it. Undefined before the first secret.
 */
export async function findVariablesKey(accounts: TableReader<'accounts'>): Promise<Uint8Array | undefined> {
  const item = await accounts.get(key);
  return item && keyRecord.parse(item).key;
}

/** The key that encrypts the secret variables, made once for each deployment. */
export async function obtainVariablesKey(accounts: TableWriter<'accounts'>, now: Date): Promise<Uint8Array> {
  const present = await findVariablesKey(accounts);
  if (present !== undefined) return present;
  const made = newKey();
  const item = keyRecord.item(key, { key: made, created_at: now.toISOString() });
  if (await tryWrite(accounts.write({ put: item, if: { exists: false } }))) return made;
  const others = await findVariablesKey(accounts);
  if (others === undefined) throw new Error('the key of variables was there, and is gone');
  return others;
}
