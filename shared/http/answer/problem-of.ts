import { ServiceError } from '../../core/service-error.ts';
import { type ProblemDocument, problemKinds } from '../definition/problem.ts';
import type { HttpError } from './http-error.ts';

/** How HTTP answers an error. */
interface Problem {
  status: number;
  headers: Readonly<Record<string, string>>;
  document: ProblemDocument;
}

function headersOf(error: ServiceError | HttpError): Readonly<Record<string, string>> {
  if (!(error instanceof ServiceError)) return error.headers;
  const { kind, retryAfterSeconds } = error;
  return {
    ...(kind === 'unauthenticated' && { 'WWW-Authenticate': 'Bearer' }),
    ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
  };
}

/** Status, headers and document of an error; `instance` is the request id. */
export function problemOf(error: ServiceError | HttpError, instance: string): Problem {
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
