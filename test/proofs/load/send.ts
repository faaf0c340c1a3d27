import { Agent, request } from 'node:http';

/** One request to be sent. */
export interface Shot {
  /** What it is, for people. */
  what: string;
  method: string;
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

export interface Reply {
  /** 0 where the connection broke or nothing came in time. */
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  text: string;
}

/** After so long a request counts as lost; the service itself gives up after 29 s. */
const patience = 35_000;

/** Sends requests to one service on as many connections as are needed at the moment. */
export class Sender {
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: 512 });

  constructor(url: string) {
    this.#url = url;
  }

  /** Never fails: what goes wrong is a reply with status 0. */
  send({ method, path, headers = {}, body }: Shot): Promise<Reply> {
    return new Promise((resolve) => {
      const lost = () => resolve({ status: 0, headers: {}, text: '' });
      const options = { method, headers, agent: this.#agent, timeout: patience };
      const sent = request(`${this.#url}${path}`, options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', lost);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        );
      });
      sent.on('timeout', () => sent.destroy());
      sent.on('error', lost);
      sent.end(body);
    });
  }

  /** @throws Error for every answer but success */
  async require(shot: Shot): Promise<string> {
    const { status, text } = await this.send(shot);
    if (status < 200 || status > 299) throw new Error(`${shot.what}: ${status} ${text}`);
    return text;
  }

  close(): void {
    this.#agent.destroy();
  }
}
