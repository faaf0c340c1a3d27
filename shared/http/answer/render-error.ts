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
 * Render any thrown value as `application/problem+json`. Errors that the caller did not cause are logged.
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

/** HTTP form of an error. */
interface Problem {
  status: number;
  headers: Readonly<Record<string, string>>;
  document: ProblemDocument;
}

/** Return status, headers and document of an error; `instance` is the request id. */
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
  // Whoever is told to come again is told when.
  const after = retryAfterSeconds ?? (kind === 'unavailable' ? retrySeconds : undefined);
  return {
    ...(kind === 'unauthenticated' && { 'WWW-Authenticate': 'Bearer' }),
    ...(after !== undefined && { 'Retry-After': String(after) }),
  };
}

const retrySeconds = 5;

function answerable(error: unknown, log: Logger): ServiceError | HttpError {
  // Nothing else tells why: the caller may be gone, and the gateway refuses requests before any function logs them.
  if (error instanceof ServiceError && error.kind === 'unavailable')
    log.warn('unavailable', { detail: error.message });
  if (error instanceof ServiceError || error instanceof HttpError) return error;
  if (error instanceof UnreadableRecordError) {
    log.error('unreadable-record', { key: error.key, reason: error.reason });
    return new ServiceError(
      'conflict',
      'This version of the service cannot read a record that the request needs. A newer version wrote it, or it is damaged. It can be deleted. The log names its key under the request ID.',
    );
  }
  if (isUnreadableObject(error)) {
    log.error('unreadable-object', { detail: error.message });
    return new ServiceError(
      'conflict',
      `Storage cannot read a file that the request needs. ${error.message}`,
    );
  }
  const fault = diskFault(error);
  if (fault !== undefined) return ofDisk(fault, error, log);
  if (error instanceof Error && isOutage(error)) {
    log.warn('dependency-out', { error: error.name, detail: error.message });
    return new ServiceError(
      'unavailable',
      'A service that this one depends on does not respond. Try again shortly.',
      { retryAfterSeconds: retrySeconds },
    );
  }
  const stack = errorStack(error);
  log.error('internal-error', { stack });
  return new HttpError('internal', 'The service failed unexpectedly. Search its log for the request ID.');
}

/** Return the error for a full or damaged disk, if the service runs on one machine. */
function ofDisk(fault: DiskFault, error: unknown, log: Logger): ServiceError | HttpError {
  const detail = errorText(error);
  if (fault === 'full') {
    log.warn('disk-full', { detail });
    return diskFullError();
  }
  log.error('database-damaged', { detail });
  return new HttpError(
    'internal',
    'A database of this service is damaged. Stop the service. Its next start names the file and the remedy.',
  );
}

/** SDK errors of an overloaded or unreachable dependency, after the SDK's own retries. */
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

/** Codes of a failed or lost connection: the dependency is unreachable, the request is not at fault. */
const connectionCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EPIPE',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  // This process has no free connection.
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
