import { seal } from '../../../shared/core/encryption.ts';
import { badRequest, type ParameterFault } from '../../../shared/core/service-error.ts';
import { type CheckedProject, changeInProject } from '../../../shared/data/projects/change-in-project.ts';
import {
  findVariable,
  obtainVariablesKey,
  putVariables,
  readVariablesToReplace,
  type StoredVariable,
  secretPurpose,
  type Variables,
} from '../../../shared/data/projects/variable.ts';
import { faultOfAll, faultOfValue } from '../../../shared/data/projects/variable-rules.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import type { Ambient } from '../../../shared/http/definition/endpoint-context.ts';

/**
 * Change the variables of a project, based on the current ones.
 * @throws ServiceError `bad-request` if there would be too many
 */
export function changeVariables(
  context: Changing,
  change: (
    present: Variables,
    time: string,
  ) => Promise<readonly StoredVariable[]> | readonly StoredVariable[],
): Promise<Variables> {
  const { records, now } = context;
  return changeInProject(context, async ({ project_id }) => {
    const { exists, ...present } = await readVariablesToReplace(records, project_id);
    const variables = await change(present, now().toISOString());
    const total = faultOfAll(variables.map((stored) => [stored.name, bytesOf(stored)]));
    if (total !== undefined) throw badRequest([{ in: 'body', name: 'body', message: total }]);
    const changed = {
      project_id,
      variables: variables.toSorted(byName),
      versions_before: versionsBefore(present, variables),
      version: present.version + 1,
    };
    await putVariables(records, changed, { version: present.version, exists });
    return changed;
  });
}

type Changing = Pick<Ambient, 'now'> & CheckedProject & { records: TableWriter<'records'> };

/**
 * Bytes of a stored variable that count against the project's limit. A sealed value is longer by nonce and tag.
 */
const bytesOf = ({ value, sealed }: StoredVariable): number =>
  sealed === null ? Buffer.byteLength(value ?? '') : sealed.length;

const byName = (one: StoredVariable, other: StoredVariable): number => (one.name < other.name ? -1 : 1);

/** Return the highest version of all variables that were or are being deleted. */
const versionsBefore = (present: Variables, kept: readonly StoredVariable[]): number =>
  Math.max(
    present.versions_before,
    ...present.variables
      .filter(({ name }) => !kept.some((other) => other.name === name))
      .map(({ version }) => version),
  );

/** A requested variable. Without a value, it keeps the current one. */
export interface WantedVariable {
  name: string;
  value?: string | undefined;
  secret: boolean;
}

/**
 * Return the requested variables in their stored form, with secrets sealed. A variable without a new value keeps
 * its stored one.
 */
export async function storedVariables(
  { keys, now }: Pick<Ambient, 'now'> & { keys: TableWriter<'accounts'> },
  wanted: readonly WantedVariable[],
  present: Variables,
  { time, faultName }: { time: string; faultName(index: number): string },
): Promise<StoredVariable[]> {
  const faults: ParameterFault[] = [];
  // Obtain the key even without secrets, because the copies of jobs are always encrypted.
  const key = await obtainVariablesKey(keys, now());
  const stored = wanted.flatMap(({ name, value, secret }, index) => {
    const previous = findVariable(present, name);
    const refuse = (message: string) => {
      faults.push({ in: 'body', name: faultName(index), message });
      return [];
    };
    if (wanted.findIndex((other) => other.name === name) < index)
      return refuse(`is given twice: ${name} already appears above`);
    if (value === undefined) {
      if (previous === undefined) return refuse(`is required for the new variable ${name}`);
      if ((previous.sealed !== null) !== secret)
        return refuse(`is required, because ${name} becomes a secret or stops being one`);
      return [previous];
    }
    const fault = faultOfValue(value, secret);
    if (fault !== undefined) return refuse(fault);
    return [
      {
        name,
        value: secret ? null : value,
        sealed: secret ? seal(key, value, secretPurpose(present.project_id, name)) : null,
        created_at: previous?.created_at ?? time,
        updated_at: time,
        version: (previous?.version ?? present.versions_before) + 1,
      },
    ];
  });
  if (faults.length > 0) throw badRequest(faults);
  return stored;
}
