import { join } from 'node:path';
import { figure } from '../../infra/local/bench/figure.ts';
import type { TracedCall } from './injection/middleware.ts';
import { randomOf } from './injection/random.ts';
import { countFaults } from './kill/count-faults.ts';
import { liveJob } from './kill/job-life.ts';
import { type Role, type Scenario, type Strike, scenarios } from './kill/job-strike.ts';
import { startLane } from './kill/lane.ts';
import { shareOut } from './kill/share-out.ts';
import { anotherMark, drawnMarks, type Mark, namedMarks } from './kill/strikes.ts';
import type { Bench, Proof } from './proof.ts';
import { buildProgram } from './world/build-program.ts';
import { sharesOf, startEngines } from './world/engines.ts';

interface Size {
  scenarios: readonly Scenario[];
  /** Calls drawn for each seed, of all scenarios together. */
  draws: number;
  /** Named points at which to kill; undefined for all. */
  named: readonly string[] | undefined;
  /** Lives at once. */
  lanes: number;
}

const sizes: Readonly<Record<Bench['size'], Size>> = {
  short: {
    scenarios: ['plain', 'again'],
    draws: 1,
    named: ['recorded', 'artifact-recorded'],
    lanes: 2,
  },
  long: { scenarios, draws: 200, named: undefined, lanes: 3 },
};

/** Of these scenarios only the named process is worth killing; the others' lives are those of `plain`. */
const victims: Readonly<Record<Scenario, readonly Role[]>> = {
  plain: ['train', 'event', 'container'],
  again: ['container'],
  late: ['pass'],
  cancelled: ['cancel', 'container'],
};

function strikeOf(scenario: Scenario, mark: Mark, random: () => number): Strike {
  const [role, event] = mark.role.split(' ') as [Role, string | undefined];
  const { at, when } = mark;
  return {
    scenario,
    role,
    at,
    when,
    ...(event !== undefined && { event: Number(event), isLost: random() < 0.5 }),
  };
}

const isVictim = (scenario: Scenario, { role }: TracedCall): boolean =>
  victims[scenario].includes(role.split(' ')[0] as Role);

async function prove({ folder, started, size, seeds = [1], say }: Bench) {
  const { scenarios: chosen, draws, named, lanes: laneCount } = sizes[size];
  const engines = await startEngines(started, join(folder, 'engines'));
  const program = { file: await buildProgram(join(folder, 'program')), cache: join(folder, 'cache') };
  const lanes = await Promise.all(
    sharesOf(engines, laneCount).map((share, index) =>
      startLane(started, { folder: join(folder, `lane-${index}`), engines: share, program }),
    ),
  );
  const [first] = lanes;
  if (first === undefined) throw new Error('no lane');
  const faults: string[] = [];
  const points = new Set<string>();
  const ends = new Map<string, number>();
  let [kills, missed, lives] = [0, 0, 0];

  for (const seed of seeds) {
    const random = randomOf(seed);
    const traced = new Map<Scenario, TracedCall[]>();
    await shareOut(lanes, [...chosen], async (lane, scenario) => {
      const life = await liveJob(lane, scenario);
      for (const fault of life.faults) say(`${scenario} without any kill: ${fault}`);
      faults.push(...life.faults);
      traced.set(
        scenario,
        life.calls.filter((call) => isVictim(scenario, call)),
      );
    });
    // The drawn calls are shared out by how many each scenario has.
    const all = [...traced].flatMap(([scenario, calls]) =>
      calls.map((call) => ({ ...call, role: `${scenario}:${call.role}` })),
    );
    const strike = ({ role, ...mark }: Mark): Strike => {
      const [scenario = 'plain', name = ''] = role.split(':');
      return strikeOf(scenario as Scenario, { ...mark, role: name }, random);
    };
    const isNamed = ({ at }: Mark) => named === undefined || named.includes(String(at));
    const marks = [...namedMarks(all).filter(isNamed), ...drawnMarks(random, all, draws)];
    const strikes = marks.map(strike);
    let spare = Math.ceil(strikes.length / 2);
    say(`seed ${seed}: ${strikes.length} kills`);
    await shareOut(lanes, strikes, async (lane, one) => {
      const life = await liveJob(lane, one.scenario, one);
      lives += 1;
      ends.set(life.status, (ends.get(life.status) ?? 0) + 1);
      if (life.isHit) kills += 1;
      else missed += 1;
      if (life.isHit && typeof one.at === 'string') points.add(`${one.when} ${one.at}`);
      if (!life.isHit && typeof one.at === 'number' && spare > 0) {
        spare -= 1;
        strikes.push(strike(anotherMark(random, all)));
      }
      for (const fault of life.faults) {
        faults.push(fault);
        say(`${JSON.stringify({ seed, ...one })}: ${fault}`);
      }
      if (lives % 50 === 0) say(`${lives} lives, ${kills} kills, ${faults.length} faults`);
    });
  }
  const wanted = size === 'long' ? seeds.length * draws * 2 : 1;
  return [
    figure('processes killed -9', kills, '', { atLeast: wanted, remark: `${seeds.length} seeds` }),
    figure('named points, before and after', points.size, ''),
    figure('lives in which the draw came too late', missed, ''),
    ...[...ends].map(([status, count]) => figure(`jobs that ended ${status}`, count, '')),
    ...countFaults(faults),
  ];
}

export const proof: Proof = {
  name: 'kill-job',
  title: 'Kill -9 in the life of a job, then 2 passes',
  prove,
};
