import { join } from 'node:path';
import { pick } from '../../support/random-choice.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { figure } from '../bench/figure.ts';
import { type ImportLaneGiven, startImportLane } from './archive/import-lane.ts';
import { courses, type ImportLife, type ImportLifeAsked } from './archive/import-life.ts';
import { startApart } from './kill/apart.ts';
import { countFaults } from './kill/count-faults.ts';
import { shareOut } from './kill/share-out.ts';
import { callsOf } from './kill/strikes.ts';
import type { Proof, ProofContext } from './proof.ts';
import { buildProgram } from './world/build-program.ts';

const laneProgram = join(import.meta.dirname, 'archive/import-lane.program.ts');
const lanesOf = { short: 1, long: 3 };

async function prove(context: ProofContext) {
  const { folder, started, size, seeds = [1], say, report } = context;
  const program = await buildProgram(context);
  const lanes = await Promise.all(
    Array.from({ length: lanesOf[size] }, (_, index) => {
      const given = { folder: join(folder, `lane-${index}`), program };
      return size === 'long'
        ? startApart<ImportLaneGiven, ImportLifeAsked, ImportLife>(started, laneProgram, given)
        : startImportLane(started, given);
    }),
  );
  const [first] = lanes;
  if (first === undefined) throw new Error('no lane');
  const faults: string[] = [];
  let [stops, kills, during, missed] = [0, 0, 0, 0];
  const figures = () => [
    figure('imports that stood still, before and after a write', stops, '', {
      atLeast: size === 'long' ? 40 * seeds.length : 1,
      remark: `${seeds.length} seeds`,
    }),
    figure('of them killed -9; the others went on, late', kills, ''),
    figure('jobs that had their life meanwhile', during, '', { atLeast: size === 'long' ? seeds.length : 1 }),
    figure('lives in which the call never came', missed, ''),
    ...countFaults(faults),
  ];
  const live = async (lane: (typeof lanes)[number], asked: ImportLifeAsked): Promise<ImportLife> => {
    const life = await lane(asked);
    for (const fault of life.faults) say(`${JSON.stringify(asked)}: ${fault}`);
    faults.push(...life.faults);
    return life;
  };
  // The short form has one life: late in the import, so that the project can be trained in.
  const short: ImportLifeAsked = {
    mark: { at: 'import-ended', when: 'before' },
    course: 'goes on',
    isKilled: true,
    isOvertaken: false,
  };
  const drawn = async (seed: number): Promise<ImportLifeAsked[]> => {
    const random = seededRandom(seed);
    const isYes = () => random() < 0.5;
    const whole = await live(first, { course: 'ends', isKilled: false, isOvertaken: false });
    return callsOf(whole.calls).flatMap(({ call }) =>
      (['before', 'after'] as const).map((when) => ({
        mark: { at: call, when },
        course: pick(random, courses),
        isKilled: isYes(),
        isOvertaken: isYes(),
      })),
    );
  };
  for (const seed of seeds) {
    const asked = size === 'short' ? [short] : await drawn(seed);
    say(`seed ${seed}: ${asked.length} imports`);
    await shareOut(lanes, asked, async (lane, one) => {
      const { isHit, isDuring } = await live(lane, one);
      if (isHit) stops += 1;
      else missed += 1;
      if (isHit && one.isKilled) kills += 1;
      if (isDuring) during += 1;
      if (stops % 10 === 0) report?.(figures());
    });
  }
  return figures();
}

export const proof: Proof = {
  name: 'kill-import',
  title: 'An import that stands still at every call, is overtaken or killed -9, while its project trains',
  prove,
};
