import { readFile } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds that the main thread of a process has run, without its workers and without what it waits for. */
export async function threadMilliseconds(pid: number): Promise<number> {
  const [nanoseconds = ''] = (await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')).split(' ');
  return Number(nanoseconds) / 1e6;
}

/** Resolve when the thread has little to do, so that work which a request left behind counts as its own. */
export async function threadAtRest(pid: number): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) {
    const before = await threadMilliseconds(pid);
    await sleep(stepMilliseconds);
    if ((await threadMilliseconds(pid)) - before < stepMilliseconds / 5) return;
  }
}

const stepMilliseconds = 15;

/** Asks for `/health` while something is watched, one request after the other. */
export class HealthWatch {
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(url: string) {
    this.#url = `${url}/health`;
  }

  /** Milliseconds of the longest request that began while the action went on. */
  async during(act: () => Promise<unknown>): Promise<number> {
    let isOver = false;
    let longest = 0;
    const acting = act().finally(() => {
      isOver = true;
    });
    while (!isOver) {
      const begun = performance.now();
      await this.#ask();
      longest = Math.max(longest, performance.now() - begun);
      await Promise.race([acting, sleep(5)]);
    }
    await acting;
    return longest;
  }

  close(): void {
    this.#agent.destroy();
  }

  #ask(): Promise<void> {
    return new Promise((resolve) => {
      get(this.#url, { agent: this.#agent }, (response) => response.resume().on('close', resolve)).on(
        'error',
        () => resolve(),
      );
    });
  }
}
