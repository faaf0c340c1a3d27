import { signal } from '@preact/signals';
import { Client } from '../../../../shared/client/client.ts';
import { ProblemError } from '../../../../shared/client/problem-error.ts';
import type { endpoint as createSession } from '../../../auth/create-session.endpoint.ts';
import type { endpoint as deleteSession } from '../../../auth/delete-session.endpoint.ts';
import type { endpoint as renewSession } from '../../../auth/renew-session.endpoint.ts';

export interface Person {
  /** The page's half of the session; the browser keeps the other one, a cookie that no script can read. */
  page_key: string;
  user_id: string;
  username: string;
  account_type: 'admin' | 'developer' | 'viewer' | 'guest';
}

/** Address of the service: that of this page, up to its last part. */
export const serviceUrl = location.origin + location.pathname.replace(/\/+$/, '').replace(/\/console$/, '');
/** Several deployments may be stages of one origin. */
const storeKey = `mps-session ${serviceUrl}`;
/** How often a page that stays open keeps its session, in milliseconds. */
const renewal = 3_600_000;

/** What every tab of this browser has, so that a new tab or a pasted link is signed in. */
function kept(): Person | undefined {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(storeKey) ?? 'null');
    return typeof value === 'object' && value !== null && 'page_key' in value ? (value as Person) : undefined;
  } catch {
    return undefined;
  }
}

/** Who is signed in. */
export const person = signal<Person | undefined>(kept());
/** Whether the session has ended while somebody worked: what they see stays behind the dialog. */
export const isExpired = signal(false);
/** Grows with each sign-in; what waits for one is loaded again. */
export const signInCount = signal(0);

/** Short retries: a page shows what is wrong instead of waiting a minute. */
const retries = { attempts: 3, seconds: 4 };

const clientFor = (pageKey: string | undefined): Client => new Client({ url: serviceUrl, pageKey, retries });
let current = clientFor(person.value?.page_key);
export const client = (): Client => current;

/** Tells the other tabs who is signed in now. */
const tabs = new BroadcastChannel(storeKey);

function enter(next: Person | undefined): void {
  person.value = next;
  current = clientFor(next?.page_key);
  isExpired.value = false;
  if (next !== undefined) signInCount.value += 1;
}

tabs.addEventListener('message', () => enter(kept()));

function keepForTabs(next: Person | undefined): void {
  if (next === undefined) localStorage.removeItem(storeKey);
  else localStorage.setItem(storeKey, JSON.stringify(next));
  enter(next);
  tabs.postMessage('changed');
}

/** @throws ProblemError for a wrong name or password */
export async function signIn(username: string, password: string): Promise<void> {
  const { page_key, user_id, account_type, ...answer } = await clientFor(person.value?.page_key).call<
    typeof createSession
  >('POST /auth/session', { body: { username, password } });
  keepForTabs({ page_key, user_id, username: answer.username, account_type });
}

/** Leave the pages of every tab, after the session was ended. */
export const leave = (): void => keepForTabs(undefined);

export async function signOut(): Promise<void> {
  await client()
    .call<typeof deleteSession>('DELETE /auth/session')
    .catch(() => undefined);
  leave();
}

/** Note that the session is used, now and while the page is open, so that it goes on for 30 days from then. */
export function keepSessionAlive(): void {
  const renew = () => {
    if (person.value === undefined || isExpired.value) return;
    client().call<typeof renewSession>('PUT /auth/session').catch(noteFailure);
  };
  renew();
  setInterval(renew, renewal);
}

/** Note what a failed call says about the session; the error is the caller's to show. */
export function noteFailure(error: unknown): void {
  if (error instanceof ProblemError && error.status === 401 && person.value !== undefined)
    isExpired.value = true;
}

/** Whether the service no longer shows something to who asks: it was deleted, or they have lost their rights. */
export const isWithheld = (error: unknown): boolean =>
  error instanceof ProblemError && (error.status === 403 || error.status === 404);
