import { sendByTicket, type Ticket } from '../../shared/client/node/send-by-ticket.ts';
import { ProblemError } from '../../shared/client/problem-error.ts';
import type { DigestedFile } from './digest-file.ts';

/**
 * Make a file the service's current version. Upload nothing if the service already has the same bytes.
 *
 * @returns whether anything was sent
 */
export async function sendUnlessKnown(
  { current, accept, ticket }: Upload,
  { path, size, sha256 }: DigestedFile,
  { signal, onProgress }: Sending,
): Promise<boolean> {
  const before = await unless(404, current);
  if (before === sha256) return false;
  // The service may know these bytes from an earlier upload, such as of another branch.
  if (before !== undefined && (await unless(409, accept)) !== undefined) return false;
  await sendByTicket(ticket, { path, size, signal, onProgress });
  await accept();
  return true;
}

/** Requests for one kind of upload. */
export interface Upload {
  /** Return the SHA-256 of the current version. @throws ProblemError 404 if there is none */
  current(): Promise<string>;
  /** Make the uploaded bytes the current version. @throws ProblemError 409 if they were never uploaded */
  accept(): Promise<unknown>;
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
