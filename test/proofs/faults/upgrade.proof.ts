import { join } from 'node:path';
import { seededRandom } from '../../support/seeded-random.ts';
import { type Figure, figure } from '../bench/figure.ts';
import { startApart } from './kill/apart.ts';
import { countFaults } from './kill/count-faults.ts';
import { shareOut } from './kill/share-out.ts';
import { drawnMarks, namedMarks } from './kill/strikes.ts';
import type { Proof, ProofContext } from './proof.ts';
import { buildFormerProgram, checkOutFormer } from './upgrade/former.ts';
import { startUpgradeLane, type UpgradeLaneGiven } from './upgrade/upgrade-lane.ts';
import { courses, type UpgradeLife, type UpgradeLifeAsked } from './upgrade/upgrade-life.ts';
import { upgradeService } from './upgrade/upgraded-service.ts';
import { buildProgram } from './world/build-program.ts';

const laneProgram = join(import.meta.dirname, 'upgrade/upgrade-lane.program.ts');
const sizes = { short: { lanes: 1 }, long: { lanes: 3 } };
/** Marks that are drawn for each course, besides all that have names. */
const draws = 20;

/** A container of the short form stands still when it has its lease, and is taken for dead. */
const short: UpgradeLifeAsked = { mark: { at: 'leased', when: 'after' }, course: 'late' };

async function prove(context: ProofContext): Promise<Figure[]> {
  const { folder, started, size, seeds = [1], say, report } = context;
  const program = await buildProgram(context);
  const tree = size === 'long' ? await checkOutFormer(folder) : undefined;
  const former = tree === undefined ? undefined : await buildFormerProgram(tree, folder);
  const lanes = await Promise.all(
    Array.from({ length: sizes[size].lanes }, (_, index) => {
      const given = { folder: join(folder, `lane-${index}`), program, ...(former && { former }) };
      return size === 'long'
        ? startApart<UpgradeLaneGiven, UpgradeLifeAsked, UpgradeLife>(started, laneProgram, given)
        : startUpgradeLane(started, given);
    }),
  );
  const [first] = lanes;
  if (first === undefined) throw new Error('no lane');
  const faults: string[] = [];
  const services: Figure[] = [];
  let [upgrades, missed, repeated] = [0, 0, 0];
  const figures = () => [
    figure('jobs of the former version whose container stood still in an upgrade', upgrades, '', {
      atLeast: size === 'long' ? 2 * draws * seeds.length : 1,
      remark: `${seeds.length} seeds`,
    }),
    figure('lives in which the call never came', missed, ''),
    figure('events that came again when all was over', repeated, '', { atLeast: 1 }),
    ...countFaults(faults),
    ...services,
  ];
  const live = async (lane: (typeof lanes)[number], asked: UpgradeLifeAsked): Promise<UpgradeLife> => {
    const life = await lane(asked);
    for (const fault of life.faults) say(`${JSON.stringify(asked)}: ${fault}`);
    faults.push(...life.faults);
    repeated += life.repeated;
    return life;
  };
  if (tree !== undefined) services.push(...(await upgradeService(context, tree)));
  for (const seed of seeds) {
    const random = seededRandom(seed);
    const drawn = async (): Promise<UpgradeLifeAsked[]> => {
      const { calls } = await live(first, { course: 'goes on' });
      const own = calls.filter(({ role }) => role === 'container');
      const marks = [...namedMarks(own), ...drawnMarks(random, own, draws)];
      return marks.flatMap(({ at, when }, index): UpgradeLifeAsked[] => {
        const course = courses[index % courses.length] ?? 'goes on';
        return [{ mark: { at, when }, course }];
      });
    };
    const asked = size === 'short' ? [short] : await drawn();
    say(`seed ${seed}: ${asked.length} upgrades`);
    await shareOut(lanes, asked, async (lane, one) => {
      const { isHit } = await live(lane, one);
      if (isHit) upgrades += 1;
      else missed += 1;
      if (upgrades % 10 === 0) report?.(figures());
    });
  }
  return figures();
}

export const proof: Proof = {
  name: 'upgrade',
  title: 'Jobs that a former version started end once under the present one',
  prove,
};
