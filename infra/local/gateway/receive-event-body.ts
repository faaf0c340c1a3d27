import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { HttpError } from '../../../shared/http/answer/http-error.ts';
import { tooLargeBody } from '../../../shared/http/body/body-limit.ts';

/**
 * The body of a request, in one buffer that grows with it: single chunks would each take far more than their bytes.
 * Throws 413 as soon as more than the limit has come, 408 where nothing comes for too long, 503 where the budget has no
 * room for it.
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
      const capacity = Math.min(whole, Math.max(needed, 2 * buffer.length, firstCapacity));
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
      // After the end it is the answer that was sent.
      if (!request.complete) stop(new ClientGoneError());
    });
  });
}

interface BodyLimits {
  /** Most bytes. */
  most: number;
  budget: ByteBudget;
  /** Milliseconds within which more has to come. */
  stallTimeout: number;
}

/**
 * Most bytes that the bodies of all requests take together. Where they are used up, the body that has been arriving for
 * longest is given up for the new one: slow or unfinished requests cannot block others.
 */
export class ByteBudget {
  readonly #most: number;
  /** Bodies that still arrive, oldest first. */
  readonly #arriving = new Set<Holder>();
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** @param giveUp called when the body is given up for another one; it has to release its share */
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
  /** Takes so many bytes more. False where there is no room for them. */
  take(bytes: number): boolean;
  /** The body has arrived: it is no longer given up for another one. */
  settle(): void;
  /** Gives all of it back. */
  release(): void;
}

/** A body that has arrived. What it has of the budget is its holder's to release. */
interface ReceivedBody {
  bytes: Uint8Array;
  release(): void;
}

/** @throws ServiceError 413 where the headers announce too many bytes */
export function checkAnnouncedLength(request: IncomingMessage, most: number): void {
  if ((announcedLength(request) ?? 0) > most) throw tooLargeBody(most);
}

/** Bytes that the headers announce; undefined where they do not say. */
export function announcedLength({ headers }: IncomingMessage): number | undefined {
  return headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
}

const noRoom = () =>
  new ServiceError('unavailable', 'The service receives too many bytes at once; try again in 1 s.', {
    retryAfterSeconds: 1,
  });

const firstCapacity = 4_096;

/** The client closed the connection before it had sent its whole request. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
}

/**
 * Lambda takes events of 6 MiB, in which the body stands in base64, beside at most 32 KiB of everything else
 * (10,240 bytes of headers, listed twice).
 */
export const eventBodyMaxBytes = Math.floor((6 * 1024 * 1024 - 32 * 1024) / 4) * 3;

/** Whether a body may follow the headers, and needs to be waited for. */
export function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
