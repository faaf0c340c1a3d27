import { sendByTicket, type Ticket } from '../../shared/client/node/send-by-ticket.ts';
import { ProblemError } from '../../shared/client/problem-error.ts';
import { usualRetries, withRetries } from '../../shared/client/retry.ts';
import type { DigestedFile } from './digest-file.ts';

/** Make a file the service's current version. Upload nothing if the service already has the same bytes. */
export async function sendUnlessKnown<T>(
  { current, accept, ticket }: Upload<T>,
  { path, size, sha256 }: DigestedFile,
  { signal, onProgress }: Sending,
): Promise<Sent<T>> {
  const before = await unless(404, current);
  if (before === sha256) return { isSent: false };
  // The service may know these bytes from an earlier upload, such as of another branch.
  const known = before === undefined ? undefined : await unless(409, accept);
  if (known !== undefined) return { isSent: false, accepted: known };
  await sendByTicket(ticket, { path, size, signal, onProgress });
  // A service that restarts now must not cost the upload. The commands' own retries are for services that do not run.
  const accepted = await withRetries(accept, { policy: usualRetries, isRepeatable: true, signal });
  return { isSent: true, accepted };
}

interface Sent<T> {
  /** Whether anything was uploaded. */
  isSent: boolean;
  /** The service's answer to `accept`; undefined if the file is its current version already. */
  accepted?: T;
}

/** Requests for one kind of upload. */
export interface Upload<T> {
  /** Return the SHA-256 of the current version. @throws ProblemError 404 if there is none */
  current(): Promise<string>;
  /** Make the uploaded bytes the current version. @throws ProblemError 409 if they were never uploaded */
  accept(): Promise<T>;
  /** Request a ticket for the upload. */
  ticket(): Promise<Ticket>;
}

interface Sending {
  signal: AbortSignal;
  onProgress(bytes: number): void;
}

/** Return the value, or undefined if the service refuses with this status. */
async function unless<T>(status: number, attempt: () => Promise<T>): Promise<T | undefined> {
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof ProblemError && error.status === status) return undefined;
    throw error;
  }
}
