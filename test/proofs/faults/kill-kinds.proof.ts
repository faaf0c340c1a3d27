import { type Draw, proveKills } from './kill/prove-kills.ts';
import type { Proof, ProofContext } from './proof.ts';

const all = { draws: 40, named: undefined };

const sizes: Readonly<Record<ProofContext['size'], { draws: readonly Draw[]; lanes: number }>> = {
  short: {
    draws: [
      { kind: 'quantize', scenarios: ['plain'], draws: 1, named: [] },
      { kind: 'build', scenarios: ['plain'], draws: 0, named: ['pack-recorded'] },
    ],
    lanes: 2,
  },
  long: {
    draws: [
      { kind: 'rerun', scenarios: ['plain', 'again', 'cancelled', 'waiting'], ...all },
      { kind: 'tracked', scenarios: ['plain', 'again', 'cancelled'], ...all },
      { kind: 'prune', scenarios: ['plain', 'again', 'cancelled', 'waiting'], ...all },
      { kind: 'quantize', scenarios: ['again', 'late'], ...all },
      { kind: 'cluster', scenarios: ['plain', 'again', 'late', 'cancelled', 'waiting'], ...all },
      { kind: 'build', scenarios: ['plain', 'again', 'cancelled'], ...all },
    ],
    lanes: 3,
  },
};

export const proof: Proof = {
  name: 'kill-kinds',
  title:
    'Kill -9 in the lives of reruns, trainings that log to MLflow, prunings, quantizations, clusters and environment builds, then 2 passes',
  prove(context) {
    const { draws, lanes } = sizes[context.size];
    return proveKills(context, draws, lanes);
  },
};
