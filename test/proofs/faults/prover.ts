// A proof in a process of its own, which tells its parent what it finds:
// `node test/proofs/faults/prover.ts <name> <folder> <size> <seeds>`.
import type { Figure } from '../bench/figure.ts';
import { loadProof, proofNames } from './load-proofs.ts';
import type { ProofContext } from './proof.ts';

/** `isWhole` comes last, with what the proof came to; before that figures are those so far. */
export interface Told {
  figures: Figure[];
  isWhole: boolean;
  failure?: string;
}

const sendToParent = (message: Told): Promise<unknown> =>
  new Promise((resolve) => {
    if (process.send === undefined) resolve(undefined);
    else process.send(message, undefined, {}, resolve);
  });

async function main([name = '', folder = '', size = 'long', seeds = '1']: string[]): Promise<number> {
  if (!(await proofNames()).includes(name)) throw new Error(`there is no proof ${name}`);
  const proof = await loadProof(name);
  let figures: Figure[] = [];
  try {
    // What the proof started has to stop, too, for it to have succeeded.
    await using started = new AsyncDisposableStack();
    figures = await proof.prove({
      folder,
      started,
      size: size as ProofContext['size'],
      seeds: seeds.split(',').map(Number),
      say: (line) => void process.stderr.write(`  ${line}\n`),
      report(soFar) {
        figures = soFar;
        void sendToParent({ figures, isWhole: false });
      },
    });
  } catch (error) {
    process.stderr.write(`  ${error instanceof Error ? error.stack : String(error)}\n`);
    await sendToParent({
      figures,
      isWhole: true,
      failure: error instanceof Error ? error.message : String(error),
    });
    return 1;
  }
  await sendToParent({ figures, isWhole: true });
  return 0;
}

process.exit(await main(process.argv.slice(2)));
