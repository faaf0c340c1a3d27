import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { boundToParent } from '../../../shared/host/linux/bound-to-parent.ts';
import type { MeasuredGroup } from '../bench/figure-table.ts';
import type { Proof, ProofContext } from './proof.ts';
import type { Told } from './prover.ts';

const program = join(import.meta.dirname, 'prover.ts');
const unfinished = 'It had not ended when this was written.';

interface Chosen extends Required<Pick<ProofContext, 'size' | 'seeds'>> {
  /** Ends it. */
  stop: AbortSignal;
  /** Gets what there is while the proof runs. */
  onProgress(soFar: MeasuredGroup): void;
}

/**
 * Runs a proof in a folder and a process of its own, so that of one that ends in whatever way the figures so far
 * remain, and the others have their turn.
 */
export async function proveApart({ name, title }: Proof, chosen: Chosen): Promise<MeasuredGroup> {
  const { size, seeds, stop, onProgress } = chosen;
  const begun = performance.now();
  const folder = await mkdtemp(join(tmpdir(), 'mps-faults-'));
  // As root, jobs run as users of their own, who have to pass through.
  await chmod(folder, 0o711);
  let told: Told = { figures: [], isWhole: false };
  const group = (failure: string | undefined): MeasuredGroup => {
    const seconds = (performance.now() - begun) / 1000;
    return { name, title: `${title} (${Math.round(seconds)} s)`, figures: told.figures, failure, seconds };
  };
  try {
    const { file, args } = boundToParent(process.execPath, [program, name, folder, size, seeds.join()]);
    // A session of its own: a terminal's signals are for the runner, which passes them on.
    const child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], detached: true });
    const end = () => child.kill('SIGTERM');
    stop.addEventListener('abort', end, { once: true });
    child.on('message', (message) => {
      told = message as Told;
      if (!told.isWhole) onProgress(group(unfinished));
    });
    // Not before everything it told has arrived.
    await once(child, 'close');
    stop.removeEventListener('abort', end);
    const how = child.signalCode ?? `exit code ${child.exitCode}`;
    return group(
      told.isWhole ? told.failure : `Its process ended with ${how}; the figures are those so far.`,
    );
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
