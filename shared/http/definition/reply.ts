import type { UnreadableRecordError } from '../../data/table/item.ts';

/** Targets of a redirect by the method of the request: a presigned URL is valid for one method. */
type Locations = Readonly<Record<'GET' | 'HEAD', string>>;

type Body<T> =
  | { kind: 'json'; value: T }
  | {
      kind: 'content';
      mediaType: string;
      bytes: Uint8Array | string;
      /** The bytes were made for this answer alone and are not sent again. */
      isPassing?: boolean;
    }
  | { kind: 'redirect'; locations: Locations };

type Headers = Readonly<Record<string, string>>;

/** A value of a query; a list becomes one parameter for each of its texts. */
export type QueryValue = string | number | boolean | readonly string[] | undefined;

/** Where the next page of a list starts. */
export interface NextPage {
  /** Sort key or position after which it starts. */
  after: string;
  /** The other parameters of the next page's query; undefined ones are left out. */
  query: Readonly<Record<string, QueryValue>>;
}

interface Extras {
  headers?: Headers;
  /** Version of the record that the answer shows; becomes part of its `ETag`. */
  version?: number;
  /** Becomes the `Link` header. A list without it has ended. */
  next?: NextPage | undefined;
  /** Records left out of the answer, because this version of the service cannot read them. */
  unreadable?: readonly UnreadableRecordError[];
}

/** An answer with more than its JSON value: headers, a version, another media type or a redirect. */
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

  /** The same answer with further headers. */
  with(headers: Headers): Reply<T> {
    const { version, next, unreadable } = this;
    return new Reply<T>(this.body, {
      headers: { ...this.headers, ...headers },
      next,
      unreadable,
      ...(version !== undefined && { version }),
    });
  }

  /** JSON with further headers or a version. */
  static json<T>(value: T, extras: Extras = {}): Reply<T> {
    return new Reply<T>({ kind: 'json', value }, extras);
  }

  /** Text or bytes of another media type. */
  static content(mediaType: string, bytes: Uint8Array | string, extras: Extras = {}): Reply<never> {
    return new Reply<never>({ kind: 'content', mediaType, bytes }, extras);
  }

  /** Bytes that were made for this answer alone. */
  static passing(mediaType: string, bytes: Uint8Array): Reply<never> {
    return new Reply<never>({ kind: 'content', mediaType, bytes, isPassing: true }, {});
  }

  /** 302 to a presigned URL, which no cache may keep. */
  static redirect(locations: Locations): Reply<never> {
    return new Reply<never>({ kind: 'redirect', locations }, { headers: { 'Cache-Control': 'no-store' } });
  }
}
