import { CommandError } from '../../../infra/command/command-error.ts';
import { readFlags } from '../../../infra/command/read-flags.ts';
import { runMain } from '../../../infra/command/run-main.ts';
import type { Outcome, Scenario } from './scenario.ts';
import { limitsTable, outcomeTable } from './simulation-report.ts';
import { VirtualClock } from './virtual-clock.ts';

const usual: readonly Scenario[] = [
  { name: '100 jobs', jobs: 100, users: 100, minutes: 20 },
  { name: '1,000 jobs', jobs: 1_000, users: 1_000, minutes: 15 },
  { name: '10,000 jobs', jobs: 10_000, users: 1_000, minutes: 7 },
  { name: '100,000 users', jobs: 1_000, users: 100_000, minutes: 10 },
  { name: '10,000 jobs of one project', jobs: 10_000, users: 1_000, minutes: 7, projects: 1 },
];

const usage = `Usage: npm run proof -- simulate [-- [--jobs <count>] [--users <count>] [--minutes <count>] [--projects <count>]
    [--launch <a second> [--places <count>] [--length <mean seconds>] [--harsh]] | --spot]
  runs the real functions in virtual time against models of the limits of DynamoDB and Batch,
  and prints which limit each load meets first; with flags, of one load of that size`;

const options = {
  jobs: { type: 'string' },
  users: { type: 'string' },
  minutes: { type: 'string' },
  projects: { type: 'string' },
  launch: { type: 'string' },
  places: { type: 'string' },
  length: { type: 'string' },
  harsh: { type: 'boolean', default: false },
  spot: { type: 'boolean', default: false },
} as const;

function wholeNumber(name: string, text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text))
    throw new CommandError(`--${name} must be a whole number above 0.\n${usage}`);
  return Number(text);
}

const readValues = () => readFlags(usage, { options }).values;

function readScenarios(values: ReturnType<typeof readValues>): readonly Scenario[] {
  if (Object.keys(values).every((name) => name === 'harsh' || name === 'spot')) return usual;
  const jobs = wholeNumber('jobs', values.jobs ?? '100');
  const users = wholeNumber('users', values.users ?? '100');
  const minutes = wholeNumber('minutes', values.minutes ?? '15');
  const numbers = (['projects', 'launch', 'places', 'length'] as const).flatMap((name) => {
    const text = values[name];
    return text === undefined ? [] : [[name, wholeNumber(name, text)] as const];
  });
  const more = { ...Object.fromEntries(numbers), isHarsh: values.harsh };
  return [{ name: `${jobs} jobs, ${users} users`, jobs, users, minutes, ...more }];
}

/** `npm run proof -- simulate`: which limit of AWS fails first as a deployment grows. */
async function simulate(): Promise<number> {
  const values = readValues();
  if (values.spot) return simulateSpot();
  const scenarios = readScenarios(values);
  // With all functions, which no help needs.
  const { runScenario } = await import('./scenario.ts');
  const clock = new VirtualClock();
  clock.install(1);
  const outcomes: Outcome[] = [];
  for (const scenario of scenarios) {
    const outcome = await runScenario(clock, scenario);
    outcomes.push(outcome);
    process.stdout.write(`${limitsTable(outcome)}\n`);
  }
  process.stdout.write(outcomeTable(outcomes));
  return 0;
}

/** What 200 runs cost on Spot that takes each host back after 20 minutes. */
async function simulateSpot(): Promise<number> {
  const { spotFigure, spotTable } = await import('./spot-figure.ts');
  const clock = new VirtualClock();
  clock.install(1);
  const figures = [await spotFigure(clock, 'spot', 200), await spotFigure(clock, 'spot-then-on-demand', 200)];
  process.stdout.write(spotTable(figures));
  const isMet = figures.every(
    ({ runs, ended, mostLost, checkpointSeconds }) => ended === runs && mostLost <= checkpointSeconds,
  );
  return isMet && (figures[0]?.shares.get(3)?.most ?? 1) <= 0.45 ? 0 : 1;
}

await runMain(simulate);
