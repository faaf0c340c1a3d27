import type { Canaries } from './canaries.ts';

interface Given {
  token?: string;
  headers?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  body?: string | Uint8Array<ArrayBuffer>;
}

/** A client that looks for canaries in every answer, with its status line and headers. */
export class Witness {
  readonly url: string;
  readonly #canaries: Canaries;
  readonly sightings: string[] = [];
  answers = 0;

  constructor(url: string, canaries: Canaries) {
    this.url = url;
    this.#canaries = canaries;
  }

  /** Looks through anything that has to do with the service. */
  inspect(where: string, bytes: Buffer, except: readonly string[] = []): void {
    for (const what of this.#canaries.within(bytes, except)) this.sightings.push(`${what} in ${where}`);
  }

  /** A request whose answer may hold no secret but the one that `issues` takes from it: a new token. */
  async send(
    method: string,
    path: string,
    { token, headers = {}, query = {}, body }: Given = {},
    issues = false,
  ): Promise<{ status: number; headers: Headers; text: string; token: string }> {
    const search = new URLSearchParams(query).toString();
    const answer = await fetch(`${this.url}${path}${search === '' ? '' : `?${search}`}`, {
      method,
      redirect: 'manual',
      headers: { ...headers, ...(token !== undefined && { Authorization: `Bearer ${token}` }) },
      ...(body !== undefined && { body }),
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    const text = bytes.toString();
    this.answers += 1;
    const [, issued = ''] = /"access_token":"([^"]+)"/.exec(text) ?? [];
    const secret = issued.split('.')[1] ?? '';
    if (issues && secret !== '') this.#canaries.add(`the token of ${method} ${path}`, secret);
    const head = Buffer.from(JSON.stringify([...answer.headers]));
    this.inspect(`the answer ${answer.status} of ${method} ${path}`, Buffer.concat([head, bytes]), [secret]);
    return { status: answer.status, headers: answer.headers, text, token: issued };
  }

  /** The same, where anything but success is a fault of the test itself. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
  async must(method: string, path: string, given: Given = {}): Promise<any> {
    const { status, text } = await this.send(method, path, given);
    if (status >= 400) throw new Error(`${method} ${path} answered ${status}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }
}
