import { isUnreadableObject } from '../../aws/unreadable-object.ts';
import { type DiskFault, diskFault, diskFullError } from '../../core/disk-fault.ts';
import { errorStack, errorText } from '../../core/error-text.ts';
import type { Logger } from '../../core/log.ts';
import { ServiceError } from '../../core/service-error.ts';
import { UnreadableRecordError } from '../../data/table/item.ts';
import { TableBusyError } from '../../data/table/retry-on-conflict.ts';
import { type ProblemDocument, problemKinds } from '../definition/problem.ts';
import type { Result } from '../pipeline/proxy-event.ts';
import { HttpError } from './http-error.ts';
import { securityHeaders } from './security-headers.ts';

/**
 * Render anything thrown as `application/problem+json`. Errors that the caller did not cause are logged.
 * @param bodyOf shapes the errors of an endpoint whose clients expect no problem document; sent as plain JSON
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
      // A problem may quote the ill-formed text that it refuses.
      typeof value === 'string' ? value.toWellFormed() : value,
    ),
  };
}

/** How HTTP answers an error. */
interface Problem {
  status: number;
  headers: Readonly<Record<string, string>>;
  document: ProblemDocument;
}

/** Status, headers and document of an error; `instance` is the request id. */
function problemOf(error: ServiceError | HttpError, instance: string): Problem {
  const { kind, message } = error;
  const { status, title } = problemKinds[kind];
  const isService = error instanceof ServiceError;
  const document = {
    ...(isService && error.code !== undefined && { error: error.code }),
    type: `/docs#problem-${kind}`,
    title,
    status,
    detail: message,
    instance,
    errors: isService ? error.errors : [],
    message,
  };
  return { status, headers: headersOf(error), document };
}

function headersOf(error: ServiceError | HttpError): Readonly<Record<string, string>> {
  if (!(error instanceof ServiceError)) return error.headers;
  const { kind, retryAfterSeconds } = error;
  return {
    ...(kind === 'unauthenticated' && { 'WWW-Authenticate': 'Bearer' }),
    ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
  };
}

const retrySeconds = 5;

function answerable(error: unknown, log: Logger): ServiceError | HttpError {
  if (error instanceof ServiceError || error instanceof HttpError) return error;
  if (error instanceof UnreadableRecordError) {
    log.error('unreadable-record', { key: error.key, reason: error.reason });
    return new ServiceError(
      'conflict',
      'This version of the service cannot read a record that the request needs: a newer version wrote it, or it is damaged. It can be deleted. The log has its key under the request id.',
    );
  }
  if (isUnreadableObject(error)) {
    log.error('unreadable-object', { detail: error.message });
    return new ServiceError(
      'conflict',
      `Storage cannot give a file that the request needs. ${error.message}`,
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
  const stack = errorStack(error);
  log.error('internal-error', { stack });
  return new HttpError('internal', 'Something went wrong here. The request id finds it in the log.');
}

/** The error for a full or damaged disk, where the service runs on one machine. */
function ofDisk(fault: DiskFault, error: unknown, log: Logger): ServiceError | HttpError {
  const detail = errorText(error);
  if (fault === 'full') {
    log.warn('disk-full', { detail });
    return diskFullError();
  }
  log.error('database-damaged', { detail });
  return new HttpError(
    'internal',
    'A database of this service is damaged. Stop the service: its next start names the file and what to do.',
  );
}

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

function isOutage(error: Error): boolean {
  if (error instanceof TableBusyError || busyNames.has(error.name)) return true;
  const cancelled = error.name === 'TransactionCanceledException';
  return cancelled || ('code' in error && typeof error.code === 'string' && connectionCodes.has(error.code));
}
