import type { endpoint as listSweeps } from '../../../functions/projects/sweeps/list-sweeps.endpoint.ts';
import type { endpoint as listTrials } from '../../../functions/projects/sweeps/list-trials.endpoint.ts';
import { foldTrials } from '../../../shared/sweeps/fold-trials.ts';
import { dollarsText, numberText, secondsText } from '../../output/units.ts';
import { projectSession } from '../../projects/project-session.ts';
import type { Sweep } from '../../sweeps/begin-sweep.ts';
import { namedSweep } from '../../sweeps/find-sweep.ts';
import { followSweep } from '../../sweeps/follow-sweep.ts';
import {
  paramsText,
  progressText,
  reachedBy,
  type TrialRow,
  valueAtBest,
  valueText,
} from '../../sweeps/trial-text.ts';
import { sweepId } from '../arguments.ts';
import { command } from '../command.ts';
import { choice, json, parsed, project } from '../flags.ts';

export const lsSweepsCommand = command({
  brief: 'List the sweeps of a project, newest first',
  help: '--json prints one line per sweep.\n\nExample:\n  mps sweep ls',
  flags: { project, json },
  async run({ project: given, json: isJson }) {
    const { client, path } = await projectSession(this, given);
    const sweeps = client.rows<typeof listSweeps>('GET /projects/{project_id}/sweeps', { path });
    const headings = ['SWEEP', 'NAME', 'STATUS', 'CREATED', 'ENDED', 'BEST', 'COST'];
    await this.printer.list(sweeps, isJson, headings, rowOf);
  },
});

function rowOf({ sweep_id, name, status, created_at, counts, trials, repeats, best, metric, spent }: Sweep) {
  const ended = counts.complete + counts.stopped_early + counts.failed + counts.cancelled;
  return [
    sweep_id,
    name,
    status,
    created_at.slice(0, 16).replace('T', ' '),
    `${ended} of ${trials * repeats}`,
    best === null ? '' : `${metric} ${valueText(best.value, best.deviation)}`,
    spent === null ? '' : dollarsText(spent),
  ];
}

export const showSweepCommand = command({
  brief: 'Show a sweep and its best trials',
  help: `Its experiments are also in "mps ls", by the filter "sweep = 'ID'".

Examples:
  mps sweep show
  mps sweep show 4k8f -n 100
  mps sweep show -f
  mps sweep show --json`,
  args: [sweepId],
  flags: {
    follow: choice('Follow it until it ends or pauses'),
    limit: parsed(Number, 'N', 'Maximum number of trials, the best first (20)'),
    project,
    json,
  },
  aliases: { f: 'follow', n: 'limit', p: 'project' },
  async run(flags, id) {
    const { follow = false, limit: most = 20, project: given, json: isJson = false } = flags;
    const { session, sweep, path } = await namedSweep(this, given, id);
    const { client } = session;
    if (follow) return followSweep(this, client, path, { isNew: false, json: isJson });
    if (isJson) {
      this.printer.json(sweep);
      return;
    }
    this.printer.facts(factsOf(sweep));
    const rows: TrialRow[] = [];
    const route = 'GET /projects/{project_id}/sweeps/{sweep_id}/trials';
    for await (const row of client.rows<typeof listTrials>(route, { path, query: { limit: 1000 } }))
      rows.push(row);
    const sign = sweep.goal === 'minimize' ? 1 : -1;
    const sorted = foldTrials(rows, sweep).toSorted(
      (a, b) => sign * ((a.value ?? sign * Infinity) - (b.value ?? sign * Infinity)) || a.trial - b.trial,
    );
    if (sorted.length === 0) return;
    this.printer.line('');
    this.printer.table(
      ['TRIAL', 'ENDED', sweep.metric.toUpperCase(), 'TIME', 'COST', 'VALUES'],
      sorted
        .slice(0, most)
        .map((one) => [
          `#${one.trial}`,
          one.outcome,
          one.value === null ? '' : valueAtBest({ ...one, value: one.value, ...reachedBy(one.rows) }),
          secondsText(one.seconds),
          one.cost === null ? '' : dollarsText(one.cost),
          paramsText(one.params),
        ]),
    );
    if (sorted.length > most) this.printer.say(`${sorted.length - most} more; -n shows them.`);
  },
});

const factsOf = (sweep: Sweep): readonly (readonly [string, string | null])[] => [
  ['sweep', sweep.sweep_id],
  ['name', sweep.name],
  ['progress', progressText(sweep)],
  ['reason', sweep.status_reason],
  ['method', `${sweep.method}, seed ${sweep.seed}`],
  ['metric', `${sweep.goal} ${sweep.metric}`],
  ...Object.entries(sweep.parameters).map(
    ([name, parameter]) => [`  ${name}`, parameterText(parameter)] as const,
  ),
  [
    'trials',
    `${sweep.trials}${sweep.repeats > 1 ? `, each ${sweep.repeats} times` : ''}, ${sweep.parallel} at once`,
  ],
  ['stops early', sweep.stop === null ? null : `${sweep.stop.rule}, from step ${sweep.stop.step_min}`],
  [
    'best',
    sweep.best === null
      ? null
      : `#${sweep.best.trial}  ${sweep.metric} ${valueAtBest(sweep.best)}  ${paramsText(sweep.best.params)}`,
  ],
  ['config', `${sweep.config}, version ${sweep.config_version}`],
  ['size', `${sweep.nodes} × ${sweep.vcpus} vCPU, ${sweep.memory} MiB, ${sweep.gpus} GPU`],
  ['estimate', sweep.estimate.cost === null ? null : dollarsText(sweep.estimate.cost)],
  ['budget', sweep.budget === null ? null : dollarsText(sweep.budget)],
  ['created', sweep.created_at],
  ['ended', sweep.ended_at],
  ['note', sweep.note],
];

/** Return a parameter as `-S` takes it. */
function parameterText(parameter: unknown): string {
  const { values, value, min, max, step, scale } = parameter as {
    values?: unknown[];
    value?: unknown;
    min?: number;
    max?: number;
    step?: number;
    scale?: string;
  };
  if (values !== undefined) return values.map(String).join(',');
  if (min === undefined || max === undefined) return String(value);
  const words = [scale === 'log' ? ':log' : '', step === undefined ? '' : `:${numberText(step)}`];
  return `${numberText(min)}..${numberText(max)}${words.join('')}`;
}
