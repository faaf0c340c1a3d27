import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Proof, ProofContext } from '../proofs/faults/proof.ts';

/** A new folder for proofs, which other users may pass through: as root, jobs run as users of their own. */
export async function proofFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mps-proof-'));
  await chmod(folder, 0o711);
  return folder;
}

/** Runs the short form of a proof. Answers the bounds that it missed, and what it said. */
export async function shortForm(
  { prove }: Proof,
  more: Pick<ProofContext, 'program'> = {},
): Promise<{ missed: string[]; output: string }> {
  const folder = await proofFolder();
  const output: string[] = [];
  try {
    await using started = new AsyncDisposableStack();
    const figures = await prove({
      folder,
      started,
      size: 'short',
      ...more,
      say: (line) => output.push(line),
    });
    const missed = figures.filter(({ bound }) => bound?.isMet === false);
    return { missed: missed.map(({ what, text }) => `${what}: ${text}`), output: output.join('\n') };
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
