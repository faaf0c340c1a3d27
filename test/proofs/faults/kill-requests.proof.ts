import { join } from 'node:path';
import { type Figure, figure } from '../bench/figure.ts';
import type { TracedCall } from './injection/middleware.ts';
import { startApart } from './kill/apart.ts';
import { countFaults } from './kill/count-faults.ts';
import { type RequestLaneGiven, type RequestLifeAsked, startRequestLane } from './kill/request-lane.ts';
import type { RequestLife } from './kill/request-life.ts';
import { shareOut } from './kill/share-out.ts';
import { stories } from './kill/stories.ts';
import { callsOf } from './kill/strikes.ts';
import type { Proof, ProofContext } from './proof.ts';
import { buildProgram } from './world/build-program.ts';

const laneProgram = join(import.meta.dirname, 'kill/request-lane.program.ts');

/** Calls that change nothing: a kill there is one at the write before it. */
const reading = /^(?:Get|BatchGet|Query|Scan|Head|List)/;

const sizes = {
  short: {
    chosen: ['a version is made of a logged model', 'an archive that breaks rules is refused'],
    maxMarks: 1,
    lanes: 1,
  },
  long: { chosen: stories.map(({ name }) => name), maxMarks: Number.POSITIVE_INFINITY, lanes: 3 },
};

/** Before and after each write. */
function marksOf(calls: readonly TracedCall[]): NonNullable<RequestLifeAsked['mark']>[] {
  const writing = new Set(calls.filter(({ operation }) => !reading.test(operation)).map(({ call }) => call));
  return callsOf(calls)
    .filter(({ call }) => writing.has(call))
    .flatMap(({ call }) => (['after', 'before'] as const).map((when) => ({ at: call, when })));
}

async function prove(context: ProofContext): Promise<Figure[]> {
  const { folder, started, size, say, report } = context;
  const { chosen, maxMarks, lanes: laneCount } = sizes[size];
  const program = await buildProgram(context);
  const lanes = await Promise.all(
    Array.from({ length: laneCount }, (_, index) => {
      const given = { folder: join(folder, `lane-${index}`), program };
      return size === 'long'
        ? startApart<RequestLaneGiven, RequestLifeAsked, RequestLife>(started, laneProgram, given)
        : startRequestLane(started, given);
    }),
  );
  const faults: string[] = [];
  let [kills, missed] = [0, 0];
  const figures = () => [
    figure('processes killed -9', kills, '', { atLeast: size === 'long' ? 2 * chosen.length : 1 }),
    figure('operations', chosen.length, ''),
    figure('lives in which the call never came', missed, ''),
    ...countFaults(faults),
  ];
  const live = async (lane: (typeof lanes)[number], asked: RequestLifeAsked): Promise<RequestLife> => {
    const life = await lane(asked);
    for (const fault of life.faults) say(`${JSON.stringify(asked)}: ${fault}`);
    faults.push(...life.faults);
    return life;
  };
  await shareOut(lanes, [...chosen], async (lane, story) => {
    const { calls } = await live(lane, { story });
    const marks = marksOf(calls).slice(0, maxMarks);
    for (const mark of marks) {
      const { isHit } = await live(lane, { story, mark });
      if (isHit) kills += 1;
      else missed += 1;
    }
    say(`${story}: ${marks.length} kills in ${callsOf(calls).length} calls`);
    report?.(figures());
  });
  return figures();
}

export const proof: Proof = {
  name: 'kill-requests',
  title: 'Kill -9 at every write of requests that record, share and delete, which are then repeated',
  prove,
};
