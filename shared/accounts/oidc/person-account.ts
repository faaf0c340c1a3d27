import { ServiceError } from '../../core/service-error.ts';
import { endCredentials, setAccountType } from '../../data/accounts/change-user.ts';
import { createPerson, findIdentity, identityClaim, renewAccount } from '../../data/accounts/identity.ts';
import {
  type AccountType,
  findUser,
  populationCount,
  type User,
  Username,
  usernameClaim,
} from '../../data/accounts/user.ts';
import { readAgain, retryOnConflict } from '../../data/table/retry-on-conflict.ts';
import type { TableWriter } from '../../data/table/table.ts';
import { ConditionFailedError } from '../../data/table/write-label.ts';
import { typeByGroups } from './group-rules.ts';
import type { PersonClaims } from './provider.ts';

/** Seconds after which a person must sign in again, so that their groups are read again. */
export const signInSeconds = 12 * 60 * 60;

interface Arrival {
  accounts: TableWriter<'accounts'>;
  /** Rules of the groups, as the settings have them. */
  groups: string;
  newId(): string;
  now(): Date;
  /** Called with the person's account before the first write, and with its types if this changes or makes it. */
  entering(user: User, types?: { before?: AccountType; after: AccountType }): void;
}

/**
 * Return the account of a person who has just signed in, with the type that their groups give by now. A change of the type
 * ends all their sessions and tokens. The first sign-in makes an account.
 * @throws ServiceError `forbidden` if their groups give none
 */
export function accountOf(claims: PersonClaims, arrival: Arrival): Promise<User> {
  const { accounts, groups, entering } = arrival;
  const person = { issuer: claims.iss, subject: claims.sub };
  const type = typeByGroups(groups, claims);
  return retryOnConflict(async () => {
    const user_id = await findIdentity(accounts, person);
    const user = user_id === undefined ? undefined : await findUser(accounts, user_id);
    if (type === undefined) {
      if (user !== undefined) await shutOut(user, arrival);
      throw new ServiceError('forbidden', 'None of your groups has access to this service.');
    }
    if (user === undefined) return createAccount(claims, type, user_id, arrival);
    if (user.account_type === type) entering(user);
    const present = user.account_type === type ? user : await changeType(user, type, arrival);
    await renewAccount(accounts, present, arrival.now());
    return present;
  });
}

/** End all sessions and tokens of a person who has lost their groups. */
async function shutOut(user: User, arrival: Arrival): Promise<void> {
  if (user.account_type !== 'guest') return void (await changeType(user, 'guest', arrival));
  arrival.entering(user);
  await endCredentials(arrival.accounts, user);
}

/** The last admin stays one, so that somebody can manage users, but loses sessions and tokens. */
async function changeType(user: User, after: AccountType, { accounts, entering }: Arrival): Promise<User> {
  entering(user, { before: user.account_type, after });
  try {
    return await setAccountType(accounts, user, after);
  } catch (error) {
    if (!(error instanceof ConditionFailedError && error.isOnly(populationCount))) throw error;
    entering(user, { before: user.account_type, after: user.account_type });
    return endCredentials(accounts, user);
  }
}

/** Numbers that are tried if the name of a new account is taken. */
const maxNumber = 20;

/** Characters of a name before its number. */
const maxName = 58;

/** Create the account under a name that is free. An account that has the name already is another person's. */
async function createAccount(
  claims: PersonClaims,
  account_type: AccountType,
  gone: string | undefined,
  { accounts, newId, now, entering }: Arrival,
): Promise<User | typeof readAgain> {
  const base = nameOf(claims);
  for (let number = 1; number <= maxNumber; number += 1) {
    const user: User = {
      user_id: newId(),
      username: number === 1 ? base : `${base}-${number === maxNumber ? newId().slice(-5) : number}`,
      account_type,
      created_at: now().toISOString(),
      version: 1,
      credentials_version: 1,
    };
    entering(user, { after: account_type });
    try {
      await createPerson(accounts, user, { issuer: claims.iss, subject: claims.sub }, gone);
      return user;
    } catch (error) {
      // The same person signs in twice at once.
      if (identityClaim.failedIn(error)) return readAgain;
      if (!usernameClaim.failedIn(error)) throw error;
    }
  }
  throw new ServiceError('conflict', 'There is no free name for your account. Ask an admin.');
}

/** Return a user name from the claims that people choose. It decides nothing. */
function nameOf(claims: PersonClaims): string {
  const candidates = [claims['preferred_username'], claims['nickname'], claims['email'], claims['name']];
  for (const text of candidates) {
    if (typeof text !== 'string') continue;
    const plain = (text.split('@')[0] ?? '')
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .toLowerCase()
      .replaceAll(/[^a-z0-9._-]+/g, '-')
      .slice(0, maxName)
      .replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
    const name = Username.safeParse(plain);
    if (name.success) return name.data;
  }
  return 'person';
}
