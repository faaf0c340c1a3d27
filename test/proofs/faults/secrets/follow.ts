import { glob, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Witness } from './witness.ts';

async function inspectCommandLines(witness: Witness): Promise<void> {
  const files = await Array.fromAsync(glob('/proc/[0-9]*/cmdline'));
  const lines = await Promise.all(files.map((file) => readFile(file).catch(() => Buffer.of())));
  witness.inspect('the command line of a process while it trained', Buffer.concat(lines));
}

/** Waits for the end of a job, with a look at all processes, and answers its status and log. */
export async function follow(
  witness: Witness,
  token: string,
  path: string,
): Promise<{ status: string; log: string }> {
  for (;;) {
    await inspectCommandLines(witness);
    const { status } = await witness.must('GET', path, { token });
    if (['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(status)) {
      const { text } = await witness.send('GET', `${path}/logs`, {
        token,
        headers: { Accept: 'text/plain' },
      });
      for (const part of ['logs', 'metrics', 'artifacts'])
        await witness.send('GET', `${path}/${part}`, { token });
      return { status, log: text };
    }
    await sleep(200);
  }
}
