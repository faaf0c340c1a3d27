import { randomBytes } from 'node:crypto';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFirstAdmin, firstAdminName, hasAdmin } from '../../../shared/accounts/first-admin.ts';
import { NewPassword, newPasswordOf } from '../../../shared/accounts/password-rules.ts';
import { dynamoDb } from '../../../shared/aws/dynamodb-client.ts';
import { tableWriter } from '../../../shared/data/table/table-writer.ts';
import { CommandError } from '../../command/command-error.ts';
import { writeDurably } from '../batch/durable-file.ts';
import type { DataFolder } from './data-folder.ts';
import { accountsTable } from './function-environment.ts';

const passwordFileName = 'admin-password';

/**
 * Create the user `admin` if there is no admin. Its password is `ADMIN_PASSWORD`, or a random one in a file of the
 * data folder with mode 0600. Return undefined if there is an admin already.
 */
export async function ensureFirstAdmin(
  data: DataFolder,
  environment: NodeJS.ProcessEnv,
): Promise<FirstAdmin | undefined> {
  const { ADMIN_PASSWORD: given } = environment;
  // Child processes must not inherit the password.
  delete environment['ADMIN_PASSWORD'];
  const accounts = tableWriter(dynamoDb(environment), 'accounts', accountsTable);
  // Generate and store no password if none is needed.
  if (await hasAdmin(accounts)) return undefined;
  const passwordFile = data.within(passwordFileName);
  const password = given === undefined ? await madePassword(passwordFile) : givenPassword(given);
  const result = await createFirstAdmin(accounts, password, new Date());
  if ('refused' in result) {
    if (result.refused === 'admin-exists') return undefined;
    throw new CommandError(`The user "${firstAdminName}" exists but is not an admin.`);
  }
  return { username: firstAdminName, password: given === undefined ? password : undefined, passwordFile };
}

export interface FirstAdmin {
  username: typeof firstAdminName;
  /** The generated password, to be shown once; undefined if `ADMIN_PASSWORD` set it. */
  password: string | undefined;
  /** File of a generated password. */
  passwordFile: string;
}

/** Return the file of the password that a first start made, also one that ended before it could show it. */
export async function keptPasswordFile(dataFolder: string): Promise<string | undefined> {
  const file = join(dataFolder, passwordFileName);
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  return isThere ? file : undefined;
}

/**
 * Write the password without a line end, because curl sends the file as it is. Write it before the account exists,
 * so that it cannot be lost.
 */
async function madePassword(file: string): Promise<string> {
  const kept = await readFile(file, 'utf8').catch(() => undefined);
  if (kept !== undefined && NewPassword.safeParse(kept).success) return kept;
  const made = randomBytes(18).toString('base64url');
  await writeDurably(file, made);
  return made;
}

function givenPassword(given: string): string {
  const checked = newPasswordOf(firstAdminName).safeParse(given);
  if (checked.success) return given;
  throw new CommandError(`ADMIN_PASSWORD ${checked.error.issues[0]?.message ?? 'is invalid'}.`);
}
