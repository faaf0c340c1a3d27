import { scenarios } from './kill/job-strike.ts';
import { type Draw, proveKills } from './kill/prove-kills.ts';
import type { Proof, ProofContext } from './proof.ts';

const sizes: Readonly<Record<ProofContext['size'], { draws: readonly Draw[]; lanes: number }>> = {
  short: {
    draws: [
      { kind: 'tracked', scenarios: ['again'], draws: 0, named: ['artifact-recorded'] },
      { kind: 'train', scenarios: ['waiting'], draws: 1, named: [] },
    ],
    lanes: 1,
  },
  long: { draws: [{ kind: 'train', scenarios, draws: 200, named: undefined }], lanes: 4 },
};

export const proof: Proof = {
  name: 'kill-job',
  title: 'Kill -9 in the life of a job, then 2 passes',
  prove(context) {
    const { draws, lanes } = sizes[context.size];
    return proveKills(context, draws, lanes);
  },
};
