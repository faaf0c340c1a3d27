import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProcesses } from '../../../../shared/process/process-tree.ts';
import { type LocalService, startLocalService } from '../../../support/local-service.ts';

/** Parts of the service that are killed: all of it, one of its engines, or the container of a run. */
export type Part = 'service' | 'engine' | 'container';

const password = 'a long enough password';

/** A service of this machine with clients that try again. Its processes are killed and begin again. */
export class KilledService {
  readonly kills: Record<Part, number> = { service: 0, engine: 0, container: 0 };
  readonly #folder: string;
  readonly #random: () => number;
  #service!: LocalService;
  #headers: Record<string, string> = {};

  private constructor(folder: string, random: () => number) {
    this.#folder = folder;
    this.#random = random;
  }

  /** @param folder of its data */
  static async start(folder: string, random: () => number): Promise<KilledService> {
    const service = new KilledService(folder, random);
    await service.#start();
    return service;
  }

  /** Send a request, again after each kill. @throws Error if it is refused */
  async call<T>(method: string, path: string, body?: object | string): Promise<T> {
    for (;;) {
      const answer = await this.#send(method, path, body).catch(() => undefined);
      if (answer !== undefined && answer.status < 400) return JSON.parse(answer.text) as T;
      if (answer !== undefined && answer.status < 500)
        throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
      await sleep(200);
    }
  }

  /** Kill (SIGKILL) one of the parts that run now, and start the service again if it is gone. */
  async kill(): Promise<void> {
    const victims = await this.#victims();
    const victim = victims[Math.floor(this.#random() * victims.length)];
    if (victim === undefined) return;
    this.kills[victim.part] += 1;
    process.kill(victim.pid, 'SIGKILL');
    if (victim.part === 'container') return;
    await Promise.race([this.#service.ended, sleep(10_000)]);
    await this.#service.end('SIGKILL');
    await this.#start();
  }

  end(signal: NodeJS.Signals): Promise<unknown> {
    return this.#service.end(signal);
  }

  async #start(): Promise<void> {
    const environment = { ADMIN_PASSWORD: password, LOCAL_PRICE: '1' };
    const started = await startLocalService(['--data', this.#folder], environment);
    if (!('url' in started)) throw new Error(started.output);
    this.#service = started;
    const body = new URLSearchParams({ grant_type: 'password', username: 'admin', password });
    const answer = await fetch(`${started.url}/auth/token`, { method: 'POST', body });
    const { access_token } = (await answer.json()) as { access_token: string };
    this.#headers = { Authorization: `Bearer ${access_token}` };
  }

  async #send(method: string, path: string, body?: object | string) {
    const answer = await fetch(`${this.#service.url}${path}`, {
      method,
      headers: { ...this.#headers, ...(typeof body === 'object' && { 'Content-Type': 'application/json' }) },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  }

  /** One process of each part. */
  async #victims(): Promise<{ part: Part; pid: number }[]> {
    const { pid } = this.#service;
    const text = await readFile(join(this.#folder, 'engines.json'), 'utf8').catch(() => '[]');
    const engines: { pid: number }[] = JSON.parse(text);
    const containers = await containersOf(pid);
    const one = <Item>(all: readonly Item[]) => all[Math.floor(this.#random() * all.length)];
    const [engine, container] = [one(engines), one(containers)];
    return [
      { part: 'service', pid },
      ...(engine === undefined ? [] : [{ part: 'engine' as const, pid: engine.pid }]),
      ...(container === undefined ? [] : [{ part: 'container' as const, pid: container }]),
    ];
  }
}

/** Return the processes of a service that run the program of a job. */
async function containersOf(root: number): Promise<number[]> {
  const pids = (await findProcesses({ root })).map(({ pid }) => pid);
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return pids.filter((_, at) => lines[at]?.includes('run-job') === true);
}
