import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { tryParseJson } from '../../../../shared/core/text/try-parse-json.ts';
import { thisHost } from '../../../../shared/host/this-host.ts';
import { processStartTime } from '../../../../shared/process/process-tree.ts';
import { writeDurably } from '../../batch/durable-file.ts';

/**
 * The emulator processes of a run, stored in its data folder. The next run ends processes that a killed run left.
 */
export class ProcessRegister {
  readonly #file: string;
  readonly #emulators: Emulator[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  /** Kill remaining emulators of an earlier run, and wait until they are gone. */
  async endLeftovers(): Promise<void> {
    const text = await readFile(this.#file, 'utf8').catch(() => '[]');
    for (const emulator of Emulators.safeParse(tryParseJson(text)).data ?? []) await kill(emulator);
    await writeDurably(this.#file, '[]');
  }

  async note(pid: number): Promise<void> {
    const startTime = await processStartTime(pid);
    if (startTime === null) return;
    this.#emulators.push({ pid, startTime });
    await writeDurably(this.#file, JSON.stringify(this.#emulators));
  }
}

const Emulators = z.array(z.object({ pid: z.number().int().min(2), startTime: z.string() }));

type Emulator = z.infer<typeof Emulators>[number];

/** Compare the start time, because the system may have reused the pid. */
async function kill({ pid, startTime }: Emulator): Promise<void> {
  for (;;) {
    const present = await processStartTime(pid);
    if (present === null || !thisHost.isSameStart(present, startTime)) return;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      return;
    }
    await sleep(10);
  }
}
