import type { UnreadableRecordError } from '../../data/table/item.ts';

/** Targets of a redirect by request method. A presigned URL is valid for one method. */
type Locations = Readonly<Record<'GET' | 'HEAD', string>>;

type Body<T> =
  | { kind: 'json'; value: T }
  | {
      kind: 'content';
      mediaType: string;
      bytes: Uint8Array | string;
      /** Whether the bytes were made for this response alone and are not sent again. */
      isPassing?: boolean;
    }
  | { kind: 'redirect'; locations: Locations };

type Headers = Readonly<Record<string, string>>;

/** A value of a query. A list becomes one parameter per item. */
export type QueryValue = string | number | boolean | readonly string[] | undefined;

/** Start of the next page of a list. */
export interface NextPage {
  /** Sort key or position after which it starts. */
  after: string;
  /** The other parameters of the next page's query; undefined ones are left out. */
  query: Readonly<Record<string, QueryValue>>;
}

interface Extras {
  headers?: Headers;
  /** Version of the record in the response; part of its `ETag`. */
  version?: number;
  /** Becomes the `Link` header. A list without it has ended. */
  next?: NextPage | undefined;
  /** Records left out of the response, because this version of the service cannot read them. */
  unreadable?: readonly UnreadableRecordError[];
}

/** A response with more than its JSON value: headers, a version, another media type or a redirect. */
export class Reply<T> {
  readonly body: Body<T>;
  readonly headers: Headers;
  readonly version: number | undefined;
  readonly next: NextPage | undefined;
  readonly unreadable: readonly UnreadableRecordError[];

  private constructor(body: Body<T>, { headers = {}, version, next, unreadable = [] }: Extras) {
    this.body = body;
    this.unreadable = unreadable;
    this.headers = headers;
    this.version = version;
    this.next = next;
  }

  /** Return the same response with further headers. */
  with(headers: Headers): Reply<T> {
    const { version, next, unreadable } = this;
    return new Reply<T>(this.body, {
      headers: { ...this.headers, ...headers },
      next,
      unreadable,
      ...(version !== undefined && { version }),
    });
  }

  /** Return JSON with further headers or a version. */
  static json<T>(value: T, extras: Extras = {}): Reply<T> {
    return new Reply<T>({ kind: 'json', value }, extras);
  }

  /** Return text or bytes of another media type. */
  static content(mediaType: string, bytes: Uint8Array | string, extras: Extras = {}): Reply<never> {
    return new Reply<never>({ kind: 'content', mediaType, bytes }, extras);
  }

  /** Return bytes that were made for this response alone. */
  static passing(mediaType: string, bytes: Uint8Array): Reply<never> {
    return new Reply<never>({ kind: 'content', mediaType, bytes, isPassing: true }, {});
  }

  /** Return a 302 to a presigned URL, which no cache may keep. */
  static redirect(locations: Locations): Reply<never> {
    return new Reply<never>({ kind: 'redirect', locations }, { headers: { 'Cache-Control': 'no-store' } });
  }
}
