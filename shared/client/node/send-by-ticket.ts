import { sendUpload, type UploadTarget } from '../send-upload.ts';
import { sendFile } from './send-file.ts';
import { type PartedUpload, type PartTarget, sendParts } from './send-parts.ts';

/** How to send a file: in one request, or as the missing parts. Both are null if nothing is to be sent. */
export interface Ticket {
  upload: UploadTarget | null;
  parts: readonly PartTarget[] | null;
}

/** Smallest size in bytes of a file that is sent in parts. A lost connection then costs only one part. */
export const partedBytes = 64 * 1024 ** 2;

/**
 * Send a file in one request or in parts, as the ticket says. Skip parts that storage already has.
 *
 * @param ask returns a ticket with fresh URLs
 * @returns whether anything was sent
 * @throws ProblemError if storage refuses the file
 * @throws UnreachableError if storage cannot be reached
 */
export async function sendByTicket(ask: () => Promise<Ticket>, file: PartedUpload): Promise<boolean> {
  const first = await ask();
  let given: Ticket | undefined = first;
  const next = async () => {
    const ticket = given ?? (await ask());
    given = undefined;
    return ticket;
  };
  if (first.parts !== null) {
    await sendParts(async () => (await next()).parts, file);
    return first.parts.length > 0;
  }
  if (first.upload === null) return false;
  const target = async () => {
    const { upload } = await next();
    if (upload === null) throw new Error(`the service takes no more bytes of ${file.path}`);
    return upload;
  };
  await sendUpload(target, sendFile(file), file.signal);
  return true;
}
