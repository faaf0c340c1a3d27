import { Readable } from 'node:stream';
import type { FaultKind, ServiceName } from './plan.ts';

interface Reply {
  statusCode: number;
  headers: Record<string, string>;
  body: Readable;
}

const xml = (code: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>injected</Message></Error>`;

/** What each service says when it is throttling, or out of order, in its own protocol. */
const replies: Readonly<Record<ServiceName, Readonly<Record<'throttled' | 'error', [number, string]>>>> = {
  dynamodb: {
    throttled: [
      400,
      '{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"injected"}',
    ],
    error: [500, '{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"injected"}'],
  },
  s3: { throttled: [503, xml('SlowDown')], error: [500, xml('InternalError')] },
  batch: {
    throttled: [429, '{"__type":"TooManyRequestsException","message":"injected"}'],
    error: [500, '{"__type":"ServerException","message":"injected"}'],
  },
};

const contentTypes: Readonly<Record<ServiceName, string>> = {
  dynamodb: 'application/x-amz-json-1.0',
  s3: 'application/xml',
  batch: 'application/json',
};

/** A reply of the service that says so; the SDK's own deserializer reads it. */
export function faultReply(service: ServiceName, kind: 'throttled' | 'error'): Reply {
  const [statusCode, text] = replies[service][kind];
  return {
    statusCode,
    headers: { 'content-type': contentTypes[service] },
    body: Readable.from([Buffer.from(text)]),
  };
}

/** What the SDK's HTTP handler throws where no reply comes. */
export function connectionFault(kind: Extract<FaultKind, 'timeout' | 'lost'>): Error {
  if (kind === 'timeout')
    return Object.assign(new Error('injected: no connection in time'), { name: 'TimeoutError' });
  return Object.assign(new Error('injected: the reply was lost'), { code: 'ECONNRESET' });
}
