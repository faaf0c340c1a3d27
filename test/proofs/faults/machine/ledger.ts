import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Reply, Sender } from '../../load/send.ts';

/** What the ledger's admin signs in with. */
export const adminPassword = 'password of the ledger';

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const isDone = (status: number): boolean => status >= 200 && status < 300;

interface Written {
  project: string;
  /** SHA-256 of each configuration, by name. */
  configs: Map<string, string>;
  /** SHA-256 of the source. */
  source: string | undefined;
}

/** Writes to a service and remembers what was acknowledged, in order to ask for it later. */
export class Ledger {
  #sender: Sender;
  #headers: Readonly<Record<string, string>> = {};
  readonly #written: Written[] = [];
  readonly #experiments: string[] = [];
  /** How many answers had each status; 0 is none. */
  readonly statuses = new Map<number, number>();
  /** Answers that no client should see. */
  readonly faults: string[] = [];

  constructor(url: string) {
    this.#sender = new Sender(url);
  }

  /** Goes on with the service at another address. */
  moveTo(url: string): void {
    this.#sender.close();
    this.#sender = new Sender(url);
  }

  close(): void {
    this.#sender.close();
  }

  async signIn(): Promise<void> {
    const body = new URLSearchParams({ grant_type: 'password', username: 'admin', password: adminPassword });
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const shot = { what: 'sign in', method: 'POST', path: '/auth/token', headers, body: body.toString() };
    const { access_token } = JSON.parse(await this.#sender.require(shot));
    this.#headers = { Authorization: `Bearer ${access_token}` };
  }

  /** Asks; counts the answer, and takes note of one that is neither done nor a clear refusal. */
  async ask(method: string, path: string, body?: string): Promise<Reply> {
    const reply = await this.#sender.send({
      what: path,
      method,
      path,
      headers: {
        ...this.#headers,
        ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) }),
      },
      ...(body !== undefined && { body }),
    });
    this.#count(`${method} ${path.split('?')[0]}`, reply.status, reply.text);
    return reply;
  }

  #count(what: string, status: number, text: string): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (status === 0 || (status >= 500 && status !== 503))
      this.faults.push(`${what}: ${status} ${text}`.slice(0, 400));
  }

  /**
   * A project with a configuration of so many bytes, and unless it is to be trained a source of as many. True where all
   * was acknowledged.
   */
  async write(bytes: number, withSource = true): Promise<boolean> {
    const text = new URLSearchParams({
      'project-name': 'ledger',
      'project-description': 'Remembers',
      'project-type': 'tabular',
      'project-task': 'classification',
    });
    const made = await this.ask('POST', `/projects/?${text}`);
    if (!isDone(made.status)) return false;
    const written: Written = {
      project: JSON.parse(made.text).project_id,
      configs: new Map(),
      source: undefined,
    };
    this.#written.push(written);
    const config = JSON.stringify({ noise: randomBytes(Math.floor(bytes / 2)).toString('hex') });
    const put = await this.ask('PUT', `/projects/${written.project}/configs/train.json`, config);
    if (!isDone(put.status)) return false;
    written.configs.set('train.json', hashOf(config));
    return withSource ? this.#writeSource(written, bytes) : true;
  }

  async #writeSource(written: Written, bytes: number): Promise<boolean> {
    // The signature of a ZIP archive, and noise.
    const source = Buffer.concat([Buffer.from([0x50, 0x4b, 3, 4]), randomBytes(bytes)]);
    const sha256 = createHash('sha256').update(source).digest('hex');
    const path = `/projects/${written.project}/source?sha256=${sha256}`;
    const ticket = await this.ask('POST', `${path}&size=${source.length}`);
    if (!isDone(ticket.status)) return false;
    const { url, method, headers } = JSON.parse(ticket.text).upload;
    const stored = await fetch(url, { method, headers, body: new Uint8Array(source) })
      .then(async (answer) => ({ status: answer.status, text: await answer.text() }))
      .catch((error: unknown) => ({ status: 0, text: String(error) }));
    this.#count('PUT of an object', stored.status, stored.text);
    if (!isDone(stored.status)) return false;
    const made = await this.ask('PUT', path);
    if (isDone(made.status)) written.source = sha256;
    return isDone(made.status);
  }

  /** Deletes the project that was written last, and forgets it; the status of the answer. */
  async deleteLast(): Promise<number> {
    const { project } = this.#written.at(-1) ?? { project: '' };
    const { status } = await this.ask('DELETE', `/projects/${project}`);
    if (isDone(status)) this.#written.pop();
    return status;
  }

  /** Begins a training that runs `command`; its record is remembered where it was acknowledged. A project without a source must be there. */
  async train(command: string): Promise<boolean> {
    const { project } = this.#written.find(
      ({ source, configs }) => source === undefined && configs.size > 0,
    ) ?? { project: '' };
    const environment = new URLSearchParams({
      entry_point_command: command,
      env_type: 'system',
      dependencies: 'none',
    });
    await this.ask('PUT', `/projects/${project}/environment?${environment}`);
    const { status, text } = await this.ask('POST', `/projects/${project}/train?config=train.json`);
    if (isDone(status))
      this.#experiments.push(`/projects/${project}/experiments/${JSON.parse(text).experiment_id}`);
    return isDone(status);
  }

  /** Waits until every experiment has ended, for at most so many seconds, and answers how each did. */
  async ends(patience = 240): Promise<string[]> {
    const ends: string[] = [];
    const until = performance.now() + patience * 1000;
    for (const path of this.#experiments) {
      for (;;) {
        const { status, text } = await this.ask('GET', path);
        const found = isDone(status) ? JSON.parse(text) : {};
        if (['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(found.status)) {
          ends.push(`${found.status} ${found.status_reason ?? ''}`.trim());
          break;
        }
        if (performance.now() > until) throw new Error(`a job has no end: ${text}`);
        await sleep(200);
      }
    }
    return ends;
  }

  get acknowledged(): number {
    return this.#written.reduce((sum, { configs, source }) => sum + 1 + configs.size + (source ? 1 : 0), 0);
  }

  /** What was acknowledged and is not there as it was written. */
  async missing(): Promise<string[]> {
    const missing: string[] = [];
    for (const { project, configs, source } of this.#written) {
      const path = `/projects/${project}`;
      const read = await this.ask('GET', path);
      if (!isDone(read.status)) missing.push(`${path}: ${read.status}`);
      for (const [name, sha256] of configs) {
        const { status, text } = await this.ask('GET', `${path}/configs/${name}`);
        const isSame = isDone(status) && hashOf(JSON.parse(text).content) === sha256;
        if (!isSame) missing.push(`${path}/configs/${name}: ${status}`);
      }
      if (source === undefined) continue;
      const { status, text } = await this.ask('GET', `${path}/source`);
      if (!isDone(status) || JSON.parse(text).sha256 !== source)
        missing.push(`${path}/source: ${status} ${text}`);
    }
    return missing;
  }
}
