import { sendByTicket, type Ticket } from '../../shared/client/node/send-by-ticket.ts';
import { ProblemError } from '../../shared/client/problem-error.ts';
import type { DigestedFile } from './digest-file.ts';

/**
 * Makes a file the current one of the service. Nothing is sent where the service has these bytes already.
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
  // Earlier bytes again, such as those of another branch.
  if (before !== undefined && (await unless(409, accept)) !== undefined) return false;
  await sendByTicket(ticket, { path, size, signal, onProgress });
  await accept();
  return true;
}

/** What the service offers for one kind of upload. */
export interface Upload {
  /** SHA-256 of what the service has now; a 404 problem where it has nothing. */
  current(): Promise<string>;
  /** Makes the uploaded bytes the current ones; a 409 problem where they were never uploaded. */
  accept(): Promise<unknown>;
  /** How to send the bytes. */
  ticket(): Promise<Ticket>;
}

interface Sending {
  signal: AbortSignal;
  onProgress(bytes: number): void;
}

/** The value, or undefined where the service refuses it with this status. */
async function unless<T>(status: number, attempt: () => Promise<T>): Promise<T | undefined> {
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof ProblemError && error.status === status) return undefined;
    throw error;
  }
}
