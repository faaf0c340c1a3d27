import { sendUpload, type UploadTarget } from '../send-upload.ts';
import { sendFile } from './send-file.ts';
import { type PartedUpload, type PartTarget, sendParts } from './send-parts.ts';

/** How the service wants a file: in one request, or in those parts that have not arrived. Both are null for none at all. */
export interface Ticket {
  upload: UploadTarget | null;
  parts: readonly PartTarget[] | null;
}

/** From here on a file goes in parts, of which a lost connection costs only one. */
export const partedBytes = 64 * 1024 ** 2;

/**
 * Send a file as the service wants it. Parts that storage has are not sent again.
 *
 * @param ask a ticket with fresh addresses
 * @returns whether anything was sent
 * @throws ProblemError when storage refuses the file
 * @throws UnreachableError when storage cannot be reached
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
