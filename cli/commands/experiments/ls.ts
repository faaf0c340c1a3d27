import type { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import type { endpoint as readOwnAccount } from '../../../functions/users/read-own-account.endpoint.ts';
import type { Client } from '../../../shared/client/client.ts';
import { nearestName } from '../../../shared/core/nearest-name.ts';
import { experimentAttributes } from '../../../shared/experiments/experiment-attributes.ts';
import type { Experiment } from '../../experiments/experiment.ts';
import { bestText, lastText } from '../../experiments/metric-text.ts';
import { connect } from '../../login/connect.ts';
import { secondsText } from '../../output/units.ts';
import { requireProject } from '../../projects/find-project.ts';
import { command } from '../command.ts';
import { json, parsed, project } from '../flags.ts';

export const lsCommand = command({
  brief: 'List the experiments of a project, newest first',
  help: `Filters are conditions joined by AND, OR, NOT and parentheses on params, metrics and tags by their names (params.NAME where two have one), and on status, name, user, duration, created_at and other attributes; with IN, BETWEEN, IS SET, ~ for regular expressions, and times such as yesterday. A word alone is found in names, params and tags. Experiments without the value to sort by come last. BEST is the best value by the project's criterion with its step, and LAST the newest value of that metric, which a model that the program saved at its end has. --sort best puts the best first; --sort METRIC compares the newest values. Each value in the filter or the order gets a column. --json prints one line per experiment.

Examples:
  mps ls
  mps ls 'accuracy > 0.9' --sort -accuracy
  mps ls 'optimizer in (adam, lion) and created_at > 7 days ago' --sort best
  mps ls --mine "status = 'FAILED'" -n 5 --json`,
  args: [
    {
      brief: "Filter, such as 'accuracy > 0.9 and (lr < 0.01 or optimizer = lion)'",
      placeholder: 'FILTER',
      parse: String,
      optional: true,
    },
  ],
  flags: {
    sort: {
      kind: 'parsed',
      parse: String,
      variadic: ',',
      placeholder: 'NAME',
      brief:
        'Sort by best, a metric, params.NAME, duration, cost or another attribute; -NAME sorts in descending order',
      optional: true,
    },
    limit: parsed(limit, 'N', 'Maximum number of experiments (50)'),
    mine: { kind: 'boolean', brief: 'Only experiments that you began', optional: true },
    project,
    json,
  },
  aliases: { n: 'limit', p: 'project' },
  async run({ sort, limit: most = 50, mine = false, project: given, json: isJson }, asked) {
    const session = await connect(this.env);
    const { project_id } = await requireProject(session, this.folder, given);
    const own = mine ? await ownCondition(session.client) : undefined;
    const condition = asked?.trim() ?? '';
    const filter = own === undefined ? condition : condition === '' ? own : `(${condition}) AND ${own}`;
    const order = sort?.map(orderTerm).join(', ');
    const experiments: Experiment[] = [];
    const rows = session.client.rows<typeof listExperiments>('GET /projects/{project_id}/experiments', {
      path: { project_id },
      query: {
        limit: Math.min(most, 1000),
        ...(filter !== '' && { filter }),
        ...(order !== undefined && { order_by: order }),
      },
    });
    for await (const experiment of rows) {
      // Print each experiment as it arrives, so scripts need not wait for the last.
      if (isJson) this.process.stdout.write(`${JSON.stringify(experiment)}\n`);
      experiments.push(experiment);
      if (experiments.length === most) break;
    }
    if (isJson) return;
    const values = askedValues(order ?? '', filter);
    const askedHeadings = values.map(({ heading }) => heading);
    const cells = experiments.map((experiment) => ({
      row: rowOf(experiment),
      more: values.map(({ textOf }) => textOf(experiment)),
    }));
    this.printer.table(
      [...headings, ...askedHeadings],
      cells.map(({ row, more }) => [...row, ...more]),
      {
        headings: narrowed(headings, askedHeadings),
        rows: cells.map(({ row, more }) => narrowed(row, more)),
      },
    );
    if (experiments.length === 0 && filter !== '') this.printer.say('No experiment matches the filter.');
    const missing = missingMetric(order ?? '', experiments);
    if (missing !== undefined) this.printer.say(missing);
  },
});

const headings = ['EXPERIMENT', 'NAME', 'STATUS', 'CREATED', 'TIME', 'BEST', 'LAST'];

/** Return a row for a narrow terminal: what is cut off at its end is the time, and not a value. */
function narrowed(
  [id = '', name = '', status = '', created = '', time = '', ...best]: readonly string[],
  more: readonly string[],
): string[] {
  return [
    id === headings[0] ? id : id.slice(-shortId),
    name.length > longestName ? `${name.slice(0, longestName - 1)}…` : name,
    status,
    ...best,
    ...more,
    time,
    created,
  ];
}

/** Characters of an ID that name an experiment of a project. */
const shortId = 8;

const longestName = 16;

/** Return what to say if the list is sorted by a metric that no experiment has, else undefined. */
function missingMetric(order: string, experiments: readonly Experiment[]): string | undefined {
  const [, metric] = /^metrics\.`([^`]+)`/.exec(order) ?? [];
  // Experiments without the value come last, so if the first one has none, then none has it.
  if (metric === undefined || experiments[0] === undefined || lastText(experiments[0], metric) !== '')
    return undefined;
  const nearest = nearestName(
    metric,
    experiments.flatMap(({ metrics }) => Object.keys(metrics)),
  );
  return `No experiment has the metric ${metric} to sort by${nearest === undefined ? '.' : `; did you mean ${nearest}?`}`;
}

/** Return the condition that holds for the experiments of the signed-in user. */
async function ownCondition(client: Client): Promise<string> {
  const { username } = await client.call<typeof readOwnAccount>('GET /users/me');
  return `user = '${username}'`;
}

function limit(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new Error('must be a whole number of at least 1');
  return count;
}

const attributes: readonly string[] = experimentAttributes;

/** Convert a `--sort` value to the service's syntax. A bare name that is no attribute is a metric. */
export function orderTerm(given: string): string {
  const isDown = given.startsWith('-');
  const name = isDown ? given.slice(1) : given;
  const isWhole = attributes.includes(name) || /^(metrics|params|tags)\./.test(name);
  return `${isWhole ? name : `metrics.\`${name}\``} ${isDown ? 'DESC' : 'ASC'}`;
}

const named = /\b(metrics?|params?|parameters?|tags?)\.(?:`([^`]+)`|"([^"]+)"|([\w./-]+))/gi;

/** Return the metrics, params and tags that a filter or an order names, without duplicates, in order. */
function askedValues(...texts: readonly string[]): AskedValue[] {
  const found = new Map<string, AskedValue>();
  for (const [, group = '', ...names] of texts.flatMap((text) => [...text.matchAll(named)])) {
    const name = names.find((one) => one !== undefined) ?? '';
    const kind = group.toLowerCase().slice(0, 1);
    const textOf = (experiment: Experiment): string => {
      if (kind === 'm') return lastText(experiment, name);
      const values = kind === 'p' ? experiment.params : experiment.tags;
      return Object.hasOwn(values, name) ? (values[name] ?? '') : '';
    };
    found.set(`${kind} ${name}`, { heading: name, textOf });
  }
  return [...found.values()];
}

/** A column for a value that the filter or the order names. */
interface AskedValue {
  heading: string;
  textOf(experiment: Experiment): string;
}

function rowOf(experiment: Experiment): string[] {
  const { experiment_id, name, status, outcome, created_at, duration, best } = experiment;
  return [
    experiment_id,
    name,
    outcome === 'stopped early' ? 'STOPPED EARLY' : status,
    created_at.slice(0, 16).replace('T', ' '),
    duration === null ? '' : secondsText(duration),
    best === null ? '' : bestText({ ...experiment, metrics: {} }),
    best === null ? '' : lastText(experiment, best.metric),
  ];
}
