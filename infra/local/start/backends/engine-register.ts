import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { processStartTime } from '../../../../shared/process/process-tree.ts';
import { writeDurably } from '../../batch/durable-file.ts';

const Engines = z.array(z.object({ pid: z.number().int().min(2), startTime: z.string() }));
type Engine = z.infer<typeof Engines>[number];

/** The engine processes of a run, noted in its data folder so that the next run can end what a killed one left. */
export class EngineRegister {
  readonly #file: string;
  readonly #engines: Engine[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  /** Kills the engines of an earlier run that are still there, and waits until they are gone. */
  async endLeftovers(): Promise<void> {
    const text = await readFile(this.#file, 'utf8').catch(() => '[]');
    for (const engine of Engines.safeParse(parseJson(text)).data ?? []) await kill(engine);
    await writeDurably(this.#file, '[]');
  }

  async note(pid: number): Promise<void> {
    const startTime = await processStartTime(pid);
    if (startTime === null) return;
    this.#engines.push({ pid, startTime });
    await writeDurably(this.#file, JSON.stringify(this.#engines));
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The start time shows whether the pid was reused. */
async function kill({ pid, startTime }: Engine): Promise<void> {
  while ((await processStartTime(pid)) === startTime) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      return;
    }
    await sleep(10);
  }
}
