import { signal } from '@preact/signals';
import { Client } from '../../../../shared/client/client.ts';
import { ProblemError } from '../../../../shared/client/problem-error.ts';
import { tryParseJson } from '../../../../shared/core/text/try-parse-json.ts';
import type { endpoint as createSession } from '../../../auth/create-session.endpoint.ts';
import type { endpoint as deleteSession } from '../../../auth/delete-session.endpoint.ts';
import type { endpoint as renewSession } from '../../../auth/renew-session.endpoint.ts';
import type { endpoint as readStart } from '../../../service/read-start.endpoint.ts';
import type { endpoint as readOwnAccount } from '../../../users/read-own-account.endpoint.ts';

export interface Person {
  /** The page's part of the session key. The browser keeps the other part in a cookie that scripts cannot read. */
  page_key: string;
  user_id: string;
  username: string;
  account_type: 'admin' | 'developer' | 'viewer' | 'guest';
}

/** URL of the service: this page's URL without `/console`. */
export const serviceUrl = location.origin + location.pathname.replace(/\/+$/, '').replace(/\/console$/, '');
/** Key in the browser's storage. It contains the URL, because deployments may be stages of one origin. */
const storeKey = `mps-session ${serviceUrl}`;
/** Milliseconds between two renewals of the session by an open page. */
const renewal = 3_600_000;

/** Parse the session that all tabs of this browser share. */
function parsePerson(text: string | null): Person | undefined {
  const value = tryParseJson(text ?? '');
  return typeof value === 'object' && value !== null && 'page_key' in value ? (value as Person) : undefined;
}

/** Read the stored session. A new tab or a pasted link is signed in. A browser may refuse the storage. */
function readPerson(): Person | undefined {
  try {
    return parsePerson(localStorage.getItem(storeKey));
  } catch {
    return undefined;
  }
}

/** Signed-in user. */
export const person = signal<Person | undefined>(readPerson());
/** Whether the session expired while the user worked. The page stays visible behind the dialog. */
export const isExpired = signal(false);
/** Number of sign-ins. Pages reload their data when it grows. */
export const signInCount = signal(0);

/** Retries: few, because a page shows an error instead of waiting a minute. */
const retries = { attempts: 3, seconds: 4 };

const clientFor = (pageKey: string | undefined): Client => new Client({ url: serviceUrl, pageKey, retries });
let current = clientFor(person.value?.page_key);
export const client = (): Client => current;

function enter(next: Person | undefined): void {
  person.value = next;
  current = clientFor(next?.page_key);
  isExpired.value = false;
  if (next !== undefined) signInCount.value += 1;
}

// Take what another tab stored from the event: a tab may read the storage's former content for a while.
window.addEventListener('storage', ({ key, newValue }) => {
  if (key === storeKey || key === null) enter(parsePerson(newValue));
});

function keepForTabs(next: Person | undefined): void {
  if (next === undefined) localStorage.removeItem(storeKey);
  else localStorage.setItem(storeKey, JSON.stringify(next));
  enter(next);
}

/** Sign in and store the session for all tabs. @throws ProblemError for a wrong name or password */
export async function signIn(username: string, password: string): Promise<void> {
  const { page_key, user_id, account_type, ...answer } = await clientFor(person.value?.page_key).call<
    typeof createSession
  >('POST /auth/session', { body: { username, password } });
  keepForTabs({ page_key, user_id, username: answer.username, account_type });
}

/** Fragment with the page's half of a session that a sign-in at the issuer has begun. */
const arrival = /^#\/session\/([A-Za-z0-9_-]{43})$/;

/** Take the session that a sign-in at the issuer has begun, if there is one. It is worth nothing without its cookie. */
export async function takeArrival(): Promise<void> {
  const page_key = arrival.exec(location.hash)?.[1];
  if (page_key === undefined) return;
  // The key must stay neither in the address nor in the history.
  history.replaceState(null, '', '#/');
  window.dispatchEvent(new HashChangeEvent('hashchange'));
  const { user_id, username, account_type } =
    await clientFor(page_key).call<typeof readOwnAccount>('GET /users/me');
  keepForTabs({ page_key, user_id, username, account_type });
}

/** Address at which browsers sign in at the issuer of the service; null without one, undefined before it is known. */
export const issuerSignIn = signal<string | null | undefined>(undefined);

export async function loadIssuerSignIn(): Promise<void> {
  issuerSignIn.value ??= (await clientFor(undefined).call<typeof readStart>('GET /')).issuer_sign_in;
}

/** Sign out every tab after the session has ended. */
export const leave = (): void => keepForTabs(undefined);

export async function signOut(): Promise<void> {
  await client()
    .call<typeof deleteSession>('DELETE /auth/session')
    .catch(() => undefined);
  leave();
}

/** Renew the session now and while the page is open. Each renewal extends it to 30 days from then. */
export function keepSessionAlive(): void {
  const renew = () => {
    if (person.value === undefined || isExpired.value) return;
    client().call<typeof renewSession>('PUT /auth/session').catch(noteFailure);
  };
  renew();
  setInterval(renew, renewal);
}

/** Record whether a failed call means an expired session. The caller shows the error. */
export function noteFailure(error: unknown): void {
  if (error instanceof ProblemError && error.status === 401 && person.value !== undefined)
    isExpired.value = true;
}

/** Return whether the user may no longer see an object: it was deleted, or they lost their rights. */
export const isWithheld = (error: unknown): boolean =>
  error instanceof ProblemError && (error.status === 403 || error.status === 404);
