import type { ServerResponse } from 'node:http';
import type { Access } from '../protocol/access.ts';
import type { Authenticated } from '../protocol/authenticate-request.ts';
import type { S3Request } from '../protocol/s3-request.ts';
import type { Store } from '../store/store.ts';

/** A verified request and its response. */
export interface Exchange {
  request: S3Request;
  response: ServerResponse;
  authenticated: Authenticated;
  /** Effective headers, see `Authenticated`. */
  headers: ReadonlyMap<string, string>;
  store: Store;
  region: string;
  /** Permissions of the request's role. */
  access: Access;
}

/** Handle a request. @throws S3Error before the response begins */
export type Operation = (exchange: Exchange) => Promise<void> | void;
