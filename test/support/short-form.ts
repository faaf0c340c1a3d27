import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Proof } from '../faults/proof.ts';

/** Runs the short form of a proof. Answers the bounds that it missed, and what it said. */
export async function shortForm({ prove }: Proof): Promise<{ missed: string[]; output: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'mps-proof-'));
  // As root, jobs run as users of their own, who have to pass through.
  await chmod(folder, 0o711);
  const output: string[] = [];
  try {
    await using started = new AsyncDisposableStack();
    const figures = await prove({ folder, started, size: 'short', say: (line) => output.push(line) });
    const missed = figures.filter(({ bound }) => bound?.isMet === false);
    return { missed: missed.map(({ what, text }) => `${what}: ${text}`), output: output.join('\n') };
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
