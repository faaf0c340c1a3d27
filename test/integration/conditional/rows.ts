import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import type { Answer, Call } from '../../support/service.ts';

/** An operation that changes a record, and may be given the version that it is meant for. */
export interface ChangeRow {
  endpoint: AnyEndpoint;
  /** What the nth of several different requests sends. */
  content: (n: number) => Call;
  /** Reads what it changes, where one operation does. */
  reads?: AnyEndpoint;
  /** What it does to the record; `sets` is for what is there from the start. */
  effect: 'puts' | 'sets' | 'removes';
  /** It does a few at a time, and answers 503 to whom it has no room for. */
  few?: true;
}

/** An operation that reads a record, or one form of it. */
export interface ReadRow {
  endpoint: AnyEndpoint;
  accept?: string;
  /** One of the changes, by which its tag becomes another. */
  change?: AnyEndpoint;
}

/** The operations of one part of the service whose answers have an ETag. */
export interface Rows {
  reads: readonly ReadRow[];
  changes: readonly ChangeRow[];
  /** POSTs whose answer carries the tag of what they made or changed, and which take no condition. */
  tagged: readonly AnyEndpoint[];
}

/** Where the operations of a part are tried, with a record of its own for each test. */
export interface RowContext {
  call(endpoint: AnyEndpoint, content?: Call, headers?: Record<string, string>): Promise<Answer>;
  /** Makes what the endpoint changes or reads, and answers the tag of its first version. */
  begin(endpoint: AnyEndpoint): Promise<string>;
  /** Makes what the endpoint needs besides the record that it puts. */
  prepare(endpoint: AnyEndpoint): Promise<void>;
}
