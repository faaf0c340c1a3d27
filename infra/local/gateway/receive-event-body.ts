import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { HttpError } from '../../../shared/http/answer/http-error.ts';
import { tooLargeBody } from '../../../shared/http/body/body-limit.ts';

/**
 * Receive a request body into one growing buffer: separate chunks would each take far more than their bytes. Throw
 * 413 as soon as the body exceeds the limit, 408 if no data arrives for too long, and 503 if the budget is used
 * up.
 */
export function receiveEventBody(
  request: IncomingMessage,
  { most, budget, stallTimeout }: BodyLimits,
): Promise<ReceivedBody> {
  checkAnnouncedLength(request, most);
  const whole = announcedLength(request) ?? most;
  return new Promise((resolve, reject) => {
    let buffer = Buffer.alloc(0);
    let length = 0;
    const share = budget.open(() => stop(noRoom()));
    const stalled = setTimeout(
      () => stop(new HttpError('request-timeout', 'The body took too long to arrive.')),
      stallTimeout,
    );
    const stop = (error: Error) => {
      clearTimeout(stalled);
      request.removeAllListeners('data');
      buffer = Buffer.alloc(0);
      share.release();
      reject(error);
    };
    const makeRoom = (needed: number): boolean => {
      const capacity = Math.min(whole, Math.max(2 * needed, firstCapacity));
      if (!share.take(capacity - buffer.length)) return false;
      const larger = Buffer.allocUnsafeSlow(capacity);
      buffer.copy(larger, 0, 0, length);
      buffer = larger;
      return true;
    };
    request.on('data', (chunk: Uint8Array) => {
      stalled.refresh();
      const needed = length + chunk.length;
      if (needed > most) stop(tooLargeBody(most));
      else if (needed > buffer.length && !makeRoom(needed)) stop(noRoom());
      else {
        buffer.set(chunk, length);
        length = needed;
      }
    });
    request.once('end', () => {
      clearTimeout(stalled);
      share.settle();
      resolve({ bytes: buffer.subarray(0, length), release: share.release });
    });
    request.once('error', () => stop(new ClientGoneError()));
    request.once('close', () => {
      // After the end of the request, `close` means that the response was sent.
      if (!request.complete) stop(new ClientGoneError());
    });
  });
}

interface BodyLimits {
  /** Maximum bytes. */
  most: number;
  budget: ByteBudget;
  /** Maximum pause between chunks, in milliseconds. */
  stallTimeout: number;
}

/**
 * A limit on the bytes of all request bodies together. If it is reached, drop the body that has been arriving for
 * longest in favor of the new one. Slow or unfinished requests cannot block others.
 */
export class ByteBudget {
  readonly #most: number;
  /** Bodies in transfer, oldest first. */
  readonly #arriving = new Set<Holder>();
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** @param giveUp called when the body is dropped for another one; it must release the share */
  open(giveUp: () => void): Share {
    const holder: Holder = { bytes: 0, giveUp };
    this.#arriving.add(holder);
    return {
      take: (bytes) => {
        this.#makeRoom(bytes, holder);
        if (this.#held + bytes > this.#most) return false;
        this.#held += bytes;
        holder.bytes += bytes;
        return true;
      },
      settle: () => {
        this.#arriving.delete(holder);
      },
      release: () => {
        this.#arriving.delete(holder);
        this.#held -= holder.bytes;
        holder.bytes = 0;
      },
    };
  }

  #makeRoom(bytes: number, asker: Holder): void {
    for (const holder of this.#arriving) {
      if (this.#held + bytes <= this.#most) return;
      if (holder !== asker && holder.bytes > 0) holder.giveUp();
    }
  }
}

interface Holder {
  bytes: number;
  giveUp(): void;
}

/** A body's share of a budget. */
interface Share {
  /** Reserve more bytes. Return false if there is no room for them. */
  take(bytes: number): boolean;
  /** Mark the body as complete: it is no longer dropped for another one. */
  settle(): void;
  /** Release the whole share. */
  release(): void;
}

/** A complete body. Its holder must release its share of the budget. */
interface ReceivedBody {
  bytes: Uint8Array;
  release(): void;
}

/** @throws ServiceError 413 if the headers announce too many bytes */
export function checkAnnouncedLength(request: IncomingMessage, most: number): void {
  if ((announcedLength(request) ?? 0) > most) throw tooLargeBody(most);
}

/** Return the number of bytes that the headers announce, or undefined if they announce none. */
export function announcedLength({ headers }: IncomingMessage): number | undefined {
  return headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
}

const noRoom = () =>
  new ServiceError('unavailable', 'The service is receiving too many bytes at once; try again in 1 s.', {
    retryAfterSeconds: 1,
  });

const firstCapacity = 4_096;

/** The client closed the connection before the end of its request. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
}

/**
 * Lambda accepts events of 6 MiB. An event contains the body in base64, and at most 32 KiB of other data (10,240
 * bytes of headers, listed twice).
 */
export const eventBodyMaxBytes = Math.floor((6 * 1024 * 1024 - 32 * 1024) / 4) * 3;

/** Whether a body may follow the headers. */
export function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
