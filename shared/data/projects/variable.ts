import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { within } from '../../core/needs.ts';
import { deploymentKey, keySchema } from '../accounts/deployment-key.ts';
import { readAccounts, writeAccounts } from '../table/needs.ts';
import { Bytes, ofVersion, recordType, unreadableVersion } from '../table/record.ts';
import type { Key, TableReader, TableWriter, Write } from '../table/table.ts';
import { projectExists } from './project.ts';

const storedVariable = () =>
  z.object({
    name: z.string(),
    /** Value of a readable variable. Null for a secret. */
    value: z.string().nullable(),
    /** Encrypted value of a secret. Null for a readable variable. */
    sealed: Bytes.nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
    /** Begins above the versions of all deleted variables, so version numbers of a name are never reused. */
    version: z.number().int(),
  });
/** Stored variable. */
export type StoredVariable = z.infer<ReturnType<typeof storedVariable>>;

const variables = recordType('variables', () =>
  z.object({
    project_id: Ulid,
    /** Variables in the order of their names. A list, because a name may equal a built-in property of objects. */
    variables: z.array(storedVariable()),
    /** Highest version of a deleted variable. */
    versions_before: z.number().int(),
    /** Counts every change, even if no variable remains. */
    version: z.number().int(),
  }),
);
/** Environment variables of a project. One record holds all, so a job gets a consistent copy. */
export type Variables = z.infer<typeof variables.schema>;

/** Return the partition of a project's variables. No job role can access it. */
export const variablesPartition = (project_id: string): string => `VARIABLES#${project_id}`;
const variablesKey = (project_id: string): Key => ({ pk: variablesPartition(project_id), sk: 'VARIABLES' });

/** Return the encryption purpose of a secret. It decrypts only under its own name in its own project. */
export const secretPurpose = (project_id: string, name: string): string =>
  `variable ${name} of ${project_id}`;

/** Return the initial variables of a project. */
const none = (project_id: string): Variables => ({
  project_id,
  variables: [],
  versions_before: 0,
  version: 1,
});

/** Return the variables of a project. Return an empty list if it never had any. */
export async function readVariables(records: TableReader<'records'>, project_id: string): Promise<Variables> {
  const item = await records.get(variablesKey(project_id));
  return item === undefined ? none(project_id) : variables.parse(item);
}

/** Return the variable with this name. */
export const findVariable = ({ variables }: Variables, name: string): StoredVariable | undefined =>
  variables.find((variable) => variable.name === name);

/** Return the variables that will be replaced, even if they are unreadable. */
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
 * Store the variables of a project. They replace the variables that were read.
 * @throws ConditionFailedError if another version or the project's delete came between
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

/** Build the write that records the variables of an imported project. */
export const putImportedVariables = (value: Variables): Write => ({
  put: variables.item(variablesKey(value.project_id), value),
});

const partition = 'VARIABLES_KEY';
const keyRecord = recordType('variables-key', keySchema);

// Marked as pure, so a bundle contains only the clients that it needs.
/** Read access to the deployment's key for secret variables. */
export const readVariablesKey = /* @__PURE__ */ within(readAccounts, { partitions: [partition] });
/** The same, and write access to create the key with the first secret. */
export const makeVariablesKey = /* @__PURE__ */ within(writeAccounts, { partitions: [partition] });

/**
 * The key that encrypts the secret variables of all projects. It is in the accounts table, separate from the encrypted
 * values. No job can access it, and no function without this need.
 */
export const { find: findVariablesKey, obtain: obtainVariablesKey } = /* @__PURE__ */ deploymentKey(
  partition,
  keyRecord,
);
