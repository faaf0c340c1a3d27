import { type DiskFault, diskFault } from '../../core/disk-fault.ts';
import type { Logger } from '../../core/log.ts';
import { ServiceError } from '../../core/service-error.ts';
import { UnreadableRecordError } from '../../data/table/item.ts';
import { TableBusyError } from '../../data/table/retry-on-conflict.ts';
import type { ProblemDocument } from '../definition/problem.ts';
import type { Result } from '../pipeline/proxy-event.ts';
import { HttpError } from './http-error.ts';
import { problemOf } from './problem-of.ts';
import { securityHeaders } from './security-headers.ts';

const retrySeconds = 5;

/** Codes of a connection that could not be made or broke: the dependency is out, not the request wrong. */
const connectionCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EPIPE',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  // This side has no further connection to give.
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'EADDRNOTAVAIL',
]);

/** SDK errors of a dependency that is overloaded or away, after the SDK's own retries. */
const busyNames = new Set([
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'TooManyRequestsException',
  'SlowDown',
  'ServiceUnavailable',
  'InternalServerError',
  'InternalError',
  'ServerException',
  'TimeoutError',
  'TransactionInProgressException',
]);

function isOutage(error: Error): boolean {
  if (error instanceof TableBusyError || busyNames.has(error.name)) return true;
  const cancelled = error.name === 'TransactionCanceledException';
  return cancelled || ('code' in error && typeof error.code === 'string' && connectionCodes.has(error.code));
}

/** Seconds after which somebody may have made room. */
const fullSeconds = 30;

/** A fault of the disk of a service that runs on one machine. */
function ofDisk(fault: DiskFault, error: unknown, log: Logger): ServiceError | HttpError {
  const detail = error instanceof Error ? error.message : String(error);
  if (fault === 'full') {
    log.warn('disk-full', { detail });
    return new ServiceError(
      'unavailable',
      'The disk of this service is full. Deleting projects, experiments or models makes room.',
      { retryAfterSeconds: fullSeconds },
    );
  }
  log.error('database-damaged', { detail });
  return new HttpError(
    'internal',
    'A database of this service is damaged. Stop the service: its next start names the file and what to do.',
  );
}

function answerable(error: unknown, log: Logger): ServiceError | HttpError {
  if (error instanceof ServiceError || error instanceof HttpError) return error;
  if (error instanceof UnreadableRecordError) {
    log.error('unreadable-record', { key: error.key, reason: error.reason });
    return new ServiceError(
      'conflict',
      'A record that this needs cannot be read by this version of the service: a newer version wrote it, or it is damaged. It can be deleted. The request id finds its key in the log.',
    );
  }
  const fault = diskFault(error);
  if (fault !== undefined) return ofDisk(fault, error, log);
  if (error instanceof Error && isOutage(error)) {
    log.warn('dependency-out', { error: error.name, detail: error.message });
    return new ServiceError(
      'unavailable',
      'A service that this one depends on does not answer. Try again shortly.',
      { retryAfterSeconds: retrySeconds },
    );
  }
  const stack = error instanceof Error ? error.stack : String(error);
  log.error('internal-error', { stack });
  return new HttpError('internal', 'Something went wrong here. The request id finds it in the log.');
}

/**
 * The `application/problem+json` answer for anything that was thrown; what is not the caller's fault is logged.
 * @param bodyOf the body of an endpoint whose errors have another shape, which then is plain JSON
 */
export function renderError(
  error: unknown,
  requestId: string,
  log: Logger,
  bodyOf?: (problem: ProblemDocument) => object,
): Result {
  const { status, headers, document } = problemOf(answerable(error, log), requestId);
  return {
    statusCode: status,
    headers: {
      ...securityHeaders,
      'Content-Type': bodyOf === undefined ? 'application/problem+json' : 'application/json',
      'Cache-Control': 'no-store',
      'X-Request-Id': requestId,
      ...headers,
    },
    body: JSON.stringify(bodyOf?.(document) ?? document, (_, value: unknown) =>
      // What a problem quotes may be the very text that is refused.
      typeof value === 'string' ? value.toWellFormed() : value,
    ),
  };
}
