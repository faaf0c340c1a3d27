import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ulid } from 'ulid';
import { hashPassword } from '../../../shared/accounts/password.ts';
import { NewPassword } from '../../../shared/accounts/password-rules.ts';
import { dynamoDb } from '../../../shared/aws/dynamodb-client.ts';
import { ConditionFailed } from '../../../shared/data/table.ts';
import { tableWriter } from '../../../shared/data/table-writer.ts';
import { createUser, readPopulation } from '../../../shared/data/user.ts';
import { writeDurably } from '../batch/durable-file.ts';
import type { DataFolder } from './data-folder.ts';
import { accountsTable } from './function-environment.ts';
import { StartError } from './options.ts';

export interface FirstAdmin {
  username: 'admin';
  /** What was made up, to be shown once; undefined where `ADMIN_PASSWORD` gave it. */
  password: string | undefined;
  /** Where a password that was made up is kept. */
  passwordFile: string;
}

function givenPassword(given: string): string {
  const checked = NewPassword.safeParse(given);
  if (checked.success) return given;
  throw new StartError(`ADMIN_PASSWORD ${checked.error.issues[0]?.message ?? 'is no good'}.`);
}

/** Without a line end, so that curl sends the file as it is; written before the account, so that it is never lost. */
async function madePassword(file: string): Promise<string> {
  const kept = await readFile(file, 'utf8').catch(() => undefined);
  if (kept !== undefined && NewPassword.safeParse(kept).success) return kept;
  const made = randomBytes(18).toString('base64url');
  await writeDurably(file, made);
  return made;
}

/**
 * Creates `admin` where no admin is: with `ADMIN_PASSWORD`, or a random password that is kept in the data folder with
 * mode 0600. Returns undefined where there is an admin already.
 */
export async function createFirstAdmin(
  data: DataFolder,
  environment: NodeJS.ProcessEnv,
): Promise<FirstAdmin | undefined> {
  const { ADMIN_PASSWORD: given } = environment;
  // Nothing that this process starts is to inherit it.
  delete environment['ADMIN_PASSWORD'];
  const accounts = tableWriter(dynamoDb(environment), 'accounts', accountsTable);
  if ((await readPopulation(accounts)).admins > 0) return undefined;
  const passwordFile = data.within('admin-password');
  const password = given === undefined ? await madePassword(passwordFile) : givenPassword(given);
  const user = {
    user_id: ulid().toLowerCase(),
    username: 'admin',
    account_type: 'admin',
    created_at: new Date().toISOString(),
    version: 1,
    credentials_version: 1,
  } as const;
  try {
    await createUser(accounts, user, await hashPassword(password), { onlyIfNoAdmin: true });
  } catch (error) {
    if (error instanceof ConditionFailed) throw new StartError('There is a user "admin" who is no admin.');
    throw error;
  }
  return { username: 'admin', password: given === undefined ? password : undefined, passwordFile };
}
