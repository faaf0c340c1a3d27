import { join } from 'node:path';
import { seededRandom } from '../../../support/seeded-random.ts';
import { type Figure, figure } from '../../bench/figure.ts';
import type { TracedCall } from '../injection/middleware.ts';
import type { ProofContext } from '../proof.ts';
import { buildProgram } from '../world/build-program.ts';
import { startApart } from './apart.ts';
import { countFaults } from './count-faults.ts';
import type { JobKind } from './course.ts';
import { type JobLaneGiven, type JobLifeAsked, startJobLane } from './job-lane.ts';
import type { Life, Role, Scenario, Strike } from './job-strike.ts';
import { shareOut } from './share-out.ts';
import { anotherMark, drawnMarks, type Mark, namedMarks } from './strikes.ts';

const laneProgram = join(import.meta.dirname, 'job-lane.program.ts');

/** What is drawn, of the calls of which lives. */
export interface Draw {
  kind: JobKind;
  scenarios: readonly Scenario[];
  /** Calls for each seed, of all scenarios together. */
  draws: number;
  /** Named points at which to kill; undefined for all. */
  named: readonly string[] | undefined;
}

/** Of these scenarios only the named process is worth killing; the others' lives are those of `plain`. */
const victims: Readonly<Record<Scenario, readonly Role[]>> = {
  plain: ['create', 'event', 'container'],
  again: ['container'],
  late: ['pass'],
  cancelled: ['cancel', 'container'],
  waiting: ['create', 'event'],
};

const isVictim = (scenario: Scenario, { role }: TracedCall): boolean =>
  victims[scenario].includes(role.split(' ')[0] as Role);

/** The kill at a mark whose role reads `<scenario>:<role>[ <which>]`. */
function strikeOf({ role: text, at, when }: Mark, random: () => number): Strike {
  const [scenario = 'plain', name = ''] = text.split(':');
  const [role, which] = name.split(' ') as [Role, string | undefined];
  const strike = { scenario: scenario as Scenario, role, at, when };
  if (which === undefined) return strike;
  return role === 'event'
    ? { ...strike, event: Number(which), isLost: random() < 0.5 }
    : { ...strike, part: which };
}

/** Lives the lives of jobs of these kinds with a kill in each, in `laneCount` lanes at once, and counts what is wrong. */
export async function proveKills(
  context: ProofContext,
  draws: readonly Draw[],
  laneCount: number,
): Promise<Figure[]> {
  const { folder, started, size, seeds = [1], say, report } = context;
  const program = await buildProgram(context);
  const lanes = await Promise.all(
    Array.from({ length: laneCount }, (_, index) => {
      const given = { folder: join(folder, `lane-${index}`), program };
      return size === 'long'
        ? startApart<JobLaneGiven, JobLifeAsked, Life>(started, laneProgram, given)
        : startJobLane(started, given);
    }),
  );
  const faults: string[] = [];
  const points = new Set<string>();
  const ends = new Map<string, number>();
  let [kills, missed, lives] = [0, 0, 0];
  const drawn = draws.reduce((sum, draw) => sum + draw.draws, 0);
  const figures = () => [
    figure('processes killed -9', kills, '', {
      atLeast: size === 'long' ? seeds.length * drawn * 2 : 1,
      remark: `${seeds.length} seeds`,
    }),
    figure('named points, before and after', points.size, ''),
    figure('lives in which the draw came too late', missed, ''),
    ...[...ends].map(([status, count]) => figure(`jobs that ended ${status}`, count, '')),
    ...countFaults(faults),
  ];

  const prove = async ({ kind, scenarios, draws: count, named }: Draw, seed: number) => {
    const random = seededRandom(seed);
    const traced = new Map<Scenario, TracedCall[]>();
    await shareOut(lanes, [...scenarios], async (lane, scenario) => {
      const life = await lane({ scenario, kind });
      for (const fault of life.faults) say(`${kind}, ${scenario}, without any kill: ${fault}`);
      faults.push(...life.faults);
      const own = life.calls.filter((call) => isVictim(scenario, call));
      traced.set(
        scenario,
        own.map((call) => ({ ...call, role: `${scenario}:${call.role}` })),
      );
    });
    // The drawn calls are shared out by how many each scenario has.
    const all = scenarios.flatMap((scenario) => traced.get(scenario) ?? []);
    const isNamed = ({ at }: Mark) => named === undefined || named.includes(String(at));
    const marks = [...namedMarks(all).filter(isNamed), ...drawnMarks(random, all, count)];
    const strikes = marks.map((mark) => strikeOf(mark, random));
    let spare = Math.ceil(strikes.length / 2);
    say(`${kind}, seed ${seed}: ${strikes.length} kills`);
    await shareOut(lanes, strikes, async (lane, one) => {
      const life = await lane({ scenario: one.scenario, kind, strike: one });
      lives += 1;
      ends.set(life.status, (ends.get(life.status) ?? 0) + 1);
      if (life.isHit) kills += 1;
      else missed += 1;
      if (life.isHit && typeof one.at === 'string') points.add(`${one.when} ${one.at}`);
      if (!life.isHit && typeof one.at === 'number' && spare > 0) {
        spare -= 1;
        strikes.push(strikeOf(anotherMark(random, all), random));
      }
      for (const fault of life.faults) {
        faults.push(fault);
        say(`${JSON.stringify({ kind, seed, ...one })}: ${fault}`);
      }
      if (lives % 10 === 0) report?.(figures());
      if (lives % 50 === 0) say(`${lives} lives, ${kills} kills, ${faults.length} faults`);
    });
  };
  for (const seed of seeds) for (const draw of draws) await prove(draw, seed);

  return figures();
}
