import { signal } from '@preact/signals';
import { Client } from '../../../../shared/client/client.ts';
import { ProblemError } from '../../../../shared/client/problem-error.ts';
import type { endpoint as createToken } from '../../../auth/create-token.endpoint.ts';
import type { endpoint as deleteToken } from '../../../auth/delete-token.endpoint.ts';

export interface Person {
  token: string;
  user_id: string;
  username: string;
  account_type: 'admin' | 'developer' | 'viewer' | 'guest';
}

const storeKey = 'mps-session';
/** Address of the service: that of this page, up to its last part. */
export const serviceUrl = location.origin + location.pathname.replace(/\/+$/, '').replace(/\/console$/, '');

/** The session lives in this tab alone and ends with it. */
function kept(): Person | undefined {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(storeKey) ?? 'null');
    return typeof value === 'object' && value !== null && 'token' in value ? (value as Person) : undefined;
  } catch {
    return undefined;
  }
}

/** Who is signed in. */
export const person = signal<Person | undefined>(kept());
/** Whether the token has died while somebody worked: what they see stays behind the dialog. */
export const isExpired = signal(false);
/** Grows with each sign-in; what waits for one is loaded again. */
export const signInCount = signal(0);

/** Short retries: a page shows what is wrong instead of waiting a minute. */
const retries = { attempts: 3, seconds: 4 };

const clientFor = (token: string | undefined): Client => new Client({ url: serviceUrl, token, retries });
let current = clientFor(person.value?.token);
export const client = (): Client => current;

function enter(next: Person | undefined): void {
  person.value = next;
  current = clientFor(next?.token);
  if (next === undefined) sessionStorage.removeItem(storeKey);
  else sessionStorage.setItem(storeKey, JSON.stringify(next));
}

/** @throws ProblemError for a wrong name or password */
export async function signIn(username: string, password: string): Promise<void> {
  const { access_token, user_id, account_type, ...answer } = await clientFor(undefined).call<
    typeof createToken
  >('POST /auth/token', { body: { grant_type: 'password', username, password } });
  enter({ token: access_token, user_id, username: answer.username, account_type });
  isExpired.value = false;
  signInCount.value += 1;
}

export async function signOut(): Promise<void> {
  await client()
    .call<typeof deleteToken>('DELETE /auth/token')
    .catch(() => undefined);
  enter(undefined);
  isExpired.value = false;
}

/** Note what a failed call says about the session; the error is the caller's to show. */
export function noteFailure(error: unknown): void {
  if (error instanceof ProblemError && error.status === 401 && person.value !== undefined)
    isExpired.value = true;
}

/** Whether the service no longer shows something to who asks: it was deleted, or they have lost their rights. */
export const isWithheld = (error: unknown): boolean =>
  error instanceof ProblemError && (error.status === 403 || error.status === 404);
