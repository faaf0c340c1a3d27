import { join } from 'node:path';
import { seededRandom } from '../../support/seeded-random.ts';
import { figure } from '../bench/figure.ts';
import { countFaults } from './kill/count-faults.ts';
import { startLane } from './kill/lane.ts';
import { shareOut } from './kill/share-out.ts';
import { drawnMarks, namedMarks, surelyCalled } from './kill/strikes.ts';
import { liveSuperseded } from './kill/superseded-life.ts';
import type { Proof, ProofContext } from './proof.ts';
import { buildProgram } from './world/build-program.ts';
import { sharesOf, startStores } from './world/engines.ts';

const sizes = {
  short: { kinds: ['train'], draws: 1, isNamed: false, lanes: 1 },
  long: { kinds: ['train', 'prune', 'quantize'], draws: 30, isNamed: true, lanes: 3 },
} as const;

async function prove(context: ProofContext) {
  const { folder, started, size, seeds = [1], say } = context;
  const { kinds, draws, isNamed, lanes: laneCount } = sizes[size];
  const engines = await startStores(started, join(folder, 'engines'));
  const program = await buildProgram(context);
  const lanes = await Promise.all(
    sharesOf(engines, laneCount).map((share, index) =>
      startLane(started, { folder: join(folder, `lane-${index}`), engines: share, program }),
    ),
  );
  const [first] = lanes;
  if (first === undefined) throw new Error('no lane');
  const faults: string[] = [];
  let [pauses, missed, tried, accepted] = [0, 0, 0, 0];
  const lives = seeds.flatMap((seed) => kinds.map((kind) => ({ seed, kind })));
  for (const { seed, kind } of lives) {
    const random = seededRandom(seed);
    const { calls } = await liveSuperseded(first, undefined, false, kind);
    // Before it has its lease a container has nothing that could be superseded.
    const leased = calls.find(({ point }) => point === 'leased')?.call ?? 0;
    const own = calls.filter(({ call }) => call >= leased);
    const drawn = size === 'short' ? surelyCalled(own) : own;
    const marks = [...(isNamed ? namedMarks(own) : []), ...drawnMarks(random, drawn, draws)];
    await shareOut(lanes, marks, async (lane, mark) => {
      const life = await liveSuperseded(lane, mark, random() < 0.5, kind);
      if (life.isHit) pauses += 1;
      else missed += 1;
      tried += life.tried;
      accepted += life.accepted;
      for (const fault of life.faults) {
        faults.push(fault);
        say(`${JSON.stringify({ kind, seed, ...mark })}: ${fault}`);
      }
    });
    say(`${kind}: ${pauses} pauses, ${tried} writes tried, ${accepted} accepted`);
  }
  return [
    figure('containers paused and taken for dead', pauses, '', {
      atLeast: 1,
      remark: `${seeds.length} seeds`,
    }),
    figure('whose pause came too late', missed, ''),
    figure('writes they tried after they were superseded', tried, ''),
    figure('of them accepted', accepted, '', { atMost: 0 }),
    ...countFaults(faults),
  ];
}

export const proof: Proof = {
  name: 'superseded',
  title: 'Containers that are taken for dead and are not',
  prove,
};
