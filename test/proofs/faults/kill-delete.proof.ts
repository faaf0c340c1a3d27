import { join } from 'node:path';
import { seededRandom } from '../../support/seeded-random.ts';
import { type Figure, figure } from '../bench/figure.ts';
import { startApart } from './kill/apart.ts';
import { countFaults } from './kill/count-faults.ts';
import { type Given, startDeleteLane } from './kill/delete-lane.ts';
import type { DeleteLife } from './kill/delete-life.ts';
import { shareOut } from './kill/share-out.ts';
import { anotherMark, drawnMarks, type Mark, namedMarks, surelyCalled } from './kill/strikes.ts';
import { makeTemplate } from './kill/template.ts';
import type { Proof, ProofContext } from './proof.ts';
import { buildProgram } from './world/build-program.ts';

const laneProgram = join(import.meta.dirname, 'kill/delete-lane.program.ts');

/** Experiments that have ended come with eight records each. */
const sizes = {
  short: { draws: 1, isNamed: false, lanes: 1, areApart: false, project: { ended: 4, objects: 12 } },
  long: { draws: 200, isNamed: true, lanes: 3, areApart: true, project: { ended: 62, objects: 2000 } },
};

async function prove(context: ProofContext): Promise<Figure[]> {
  const { folder, started, size, seeds = [1], say, report } = context;
  const { draws, isNamed, lanes: laneCount, areApart, project } = sizes[size];
  const template = await makeTemplate(join(folder, 'template'), project);
  const program = await buildProgram(context);
  const lanes = await Promise.all(
    Array.from({ length: laneCount }, (_, index) => {
      const given = { folder: join(folder, `lane-${index}`), program, template };
      return areApart
        ? startApart<Given, Mark | undefined, DeleteLife>(started, laneProgram, given)
        : startDeleteLane(started, given);
    }),
  );
  const [first] = lanes;
  if (first === undefined) throw new Error('no lane');
  const faults: string[] = [];
  const points = new Set<string>();
  let [kills, missed, lives, undone, calls] = [0, 0, 0, 0, 0];
  const figures = () => [
    figure('processes killed -9', kills, '', {
      atLeast: size === 'long' ? seeds.length * draws * 2 : 1,
      remark: `${seeds.length} seeds`,
    }),
    figure('named points, before and after', points.size, ''),
    figure('external calls of a delete with its first pass', calls, ''),
    figure('lives in which the kill came before the delete', undone, ''),
    figure('lives in which the draw came too late', missed, ''),
    ...countFaults(faults),
  ];
  for (const seed of seeds) {
    const random = seededRandom(seed);
    const whole = await first(undefined);
    for (const fault of whole.faults) say(`without any kill: ${fault}`);
    faults.push(...whole.faults);
    calls = new Set(whole.calls.map(({ call }) => call)).size;
    const drawn = size === 'short' ? surelyCalled(whole.calls) : whole.calls;
    const marks = [...(isNamed ? namedMarks(whole.calls) : []), ...drawnMarks(random, drawn, draws)];
    say(`seed ${seed}: ${marks.length} kills in a life of ${calls} calls`);
    let spare = Math.ceil(marks.length / 2);
    await shareOut(lanes, marks, async (lane, mark) => {
      const life = await lane(mark);
      lives += 1;
      if (life.isHit) kills += 1;
      else missed += 1;
      if (!life.isDeleted) undone += 1;
      if (life.isHit && typeof mark.at === 'string') points.add(`${mark.when} ${mark.at}`);
      if (!life.isHit && typeof mark.at === 'number' && spare > 0) {
        spare -= 1;
        marks.push(anotherMark(random, whole.calls));
      }
      for (const fault of life.faults) {
        faults.push(fault);
        say(`${JSON.stringify({ seed, ...mark })}: ${fault}`);
      }
      if (lives % 10 === 0) report?.(figures());
      if (lives % 50 === 0) say(`${lives} lives, ${kills} kills, ${faults.length} faults`);
    });
  }
  return figures();
}

export const proof: Proof = {
  name: 'kill-delete',
  title: 'Kill -9 in a project delete (500 records, 2,000 objects, 5 live jobs), then 2 passes',
  prove,
};
