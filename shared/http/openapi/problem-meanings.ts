import type { ProblemKind } from '../definition/problem.ts';

/** What each kind of problem tells a caller, and what to do about it. */
export const problemMeanings: Readonly<Record<ProblemKind, string>> = {
  'bad-request':
    'A parameter is missing, unknown, given twice or malformed. `errors` names each one, its location and what is allowed. Nothing was changed.',
  unauthenticated:
    'There is no bearer token, or it is unknown, has expired or was revoked. Sign in with POST /auth/token. Behind API Gateway the WWW-Authenticate header arrives as x-amzn-remapped-www-authenticate.',
  forbidden:
    'The caller has no right to this: the account type is too low, the record is another user’s, or a page of an origin that is not listed tried to write.',
  'not-found': 'Nothing exists at this path, or the record does not exist any more.',
  'method-not-allowed': 'The path exists, but not with this method. The Allow header lists those that do.',
  'request-timeout': 'The request did not arrive whole within the time for it. Send it again.',
  conflict:
    'The request conflicts with the current state, which `detail` names. Change that state, or retry after another change came first. Also for a record that a newer version of the service wrote and this one cannot read.',
  'precondition-failed':
    'The record is not the one that If-Match or If-None-Match asks for: somebody changed it. Read it again and repeat the change.',
  'too-large':
    'The body that was sent, or the answer that would be sent, is larger than this operation takes, or takes too long to make. `detail` says what to ask for instead.',
  'unsupported-media-type': 'The Content-Type of the body is not one that this operation reads.',
  'idempotency-mismatch':
    'The Idempotency-Key was used before, for another request. Take a new key for each request.',
  'too-many-requests': 'Too many requests in too short a time. Wait for as many seconds as Retry-After says.',
  'headers-too-large': 'Request line and headers together have more than 10,240 bytes.',
  internal: 'Something went wrong in the service. The request id in `instance` finds it in the log.',
  unavailable:
    'Something that this service depends on does not respond. Wait as many seconds as Retry-After says, then repeat the request if that is safe.',
};
