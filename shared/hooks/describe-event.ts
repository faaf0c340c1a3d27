import { consoleLink } from '../client/console-link.ts';
import { dollarsText, secondsText } from '../core/text/amounts.ts';
import { readUsernames } from '../data/accounts/user.ts';
import { type Experiment, findExperiment } from '../data/experiments/experiment.ts';
import { type ExperimentRow, rowOf } from '../data/experiments/experiment-row.ts';
import { readProjects } from '../data/experiments/search-experiments.ts';
import { readTracking } from '../data/experiments/tracking.ts';
import type { Notice } from '../data/hooks/notice.ts';
import { isFinal } from '../data/jobs/job-status.ts';
import { readRuns } from '../data/metrics/metric-history.ts';
import { readCriterion } from '../data/projects/inferred-criterion.ts';
import { parseProject, projectKey } from '../data/projects/project.ts';
import type { TableReader } from '../data/table/table.ts';
import { valueText } from '../drawing/number-text.ts';
import { ExperimentAnswer, showExperiment } from '../experiments/experiment-answer.ts';
import { experimentVocabulary } from '../experiments/experiment-vocabulary.ts';
import { rankProject } from '../experiments/rank-project.ts';
import { actualCost } from '../jobs/cost.ts';
import { durationOf } from '../jobs/shown-job.ts';
import { MetricRanker } from '../metrics/metric-ranker.ts';
import { metricOf } from '../run-rules/rule-text.ts';
import { parseFilter } from '../search/parse-filter.ts';
import type { HookMessage } from './message.ts';

/** What an event is about, for the messages of all hooks. */
export interface DescribedEvent {
  /** Return the message. The link leads to the console at this address. */
  messageFor(console_url: string | null): HookMessage;
  /** Whether a hook with this filter wants it. A filter concerns experiments alone. */
  matches(filter: string | null): boolean;
}

/** Describe events. One describer serves one pass, so it ranks the experiments of a project once. */
export class EventDescriber {
  readonly #context: DescriberContext;
  readonly #leaders = new Map<string, Promise<readonly Leader[]>>();

  constructor(context: DescriberContext) {
    this.#context = context;
  }

  /** Return undefined if the project or the experiment was deleted. */
  async describe(notice: Notice): Promise<DescribedEvent | undefined> {
    const { records } = this.#context;
    const item = await records.get(projectKey(notice.project_id));
    if (item === undefined) return undefined;
    const { project_name } = parseProject(item);
    const facts: Readonly<Record<string, unknown>> = JSON.parse(notice.facts);
    if (ofExperiments.has(notice.type)) return this.#experiment(notice, project_name, facts);
    return {
      matches: () => true,
      messageFor: (console_url) => otherMessage(notice, { project_name, facts, console_url }),
    };
  }

  async #experiment(
    notice: Notice,
    project_name: string,
    { reason }: Readonly<Record<string, unknown>>,
  ): Promise<DescribedEvent | undefined> {
    const { records, accounts, now } = this.#context;
    const { project_id, subject, type, created_at } = notice;
    const experiment = await findExperiment(records, project_id, subject);
    if (experiment === undefined) return undefined;
    const [tracking, criterion, usernames] = await Promise.all([
      readTracking(records, project_id, subject),
      readCriterion(records, project_id),
      readUsernames(accounts, [experiment.user_id]),
    ]);
    const ranker = new MetricRanker(criterion);
    const row = rowOf(experiment, tracking);
    const at = now();
    const lines = isFinal(experiment.status) ? await this.#outcome(experiment, row, ranker, at) : [];
    const data = ExperimentAnswer.parse(showExperiment(experiment, at, tracking, { ranker, usernames }));
    return {
      matches: (filter) =>
        filter === null ||
        parseFilter(
          filter,
          experimentVocabulary({
            now: at,
            usernameOf: (id) => usernames.get(id),
            bestOf: (experimentRow) => ranker.best(experimentRow)?.value,
          }),
        ).matches(row),
      messageFor: (console_url) => ({
        type,
        timestamp: created_at,
        data,
        text: {
          title: `${row.name} ${verbs[type] ?? type}`,
          tone: tones[type] ?? 'plain',
          reason: typeof reason === 'string' ? reason : experiment.status_reason,
          facts: [{ name: 'Project', value: project_name }, ...lines],
          link: console_url && consoleLink(console_url, ['projects', project_id, 'experiments', subject]),
        },
      }),
    };
  }

  /** Return the lines about an experiment that has ended. */
  async #outcome(experiment: Experiment, row: ExperimentRow, ranker: MetricRanker, at: Date) {
    const best = ranker.best(row);
    const cost = actualCost(experiment);
    const seconds = durationOf(experiment, at);
    return [
      ...(best === null ? [] : [{ name: best.metric, value: await this.#bestText(row, ranker, best) }]),
      ...(await this.#course(experiment, row, best?.metric)),
      ...(seconds === null ? [] : [{ name: 'Duration', value: secondsText(seconds) }]),
      ...(cost === null ? [] : [{ name: 'Cost', value: dollarsText(cost) }]),
    ];
  }

  /**
   * Compare the best value of a run with that of its project, by the rule of `best`: failed runs have none, and values of
   * training data count only where no run has others.
   */
  async #bestText(row: ExperimentRow, ranker: MetricRanker, { value, step }: Best): Promise<string> {
    const [first, second] = await this.#leadersOf(row.project_id, ranker);
    const before = first?.row.experiment_id === row.experiment_id ? second : first;
    const own = `${valueText(value)}${step === null ? '' : ` at step ${step}`}`;
    if (before === undefined) return own;
    const { best } = rankProject([before.row, row], ranker);
    if (best?.row === row)
      return `${own}, the best of the project (before: ${valueText(before.value.value)})`;
    return `${own}; the best of the project is ${valueText(before.value.value)} (${before.row.name})`;
  }

  /** Return the two best runs of a project. One pass ranks its runs once, however many events it has. */
  #leadersOf(project_id: string, ranker: MetricRanker): Promise<readonly Leader[]> {
    const known = this.#leaders.get(project_id);
    if (known !== undefined) return known;
    const found = this.#rank(project_id, ranker);
    this.#leaders.set(project_id, found);
    return found;
  }

  async #rank(project_id: string, ranker: MetricRanker): Promise<Leader[]> {
    const projects = await readProjects(this.#context.records, [project_id]);
    const rows = projects.flatMap((project) => project.rows);
    const { best: first } = rankProject(rows, ranker);
    const others = first === undefined ? [] : rows.filter((row) => row !== first.row);
    return [first, rankProject(others, ranker).best].filter((one) => one !== undefined);
  }

  /**
   * Return the course of the best metric as a line of block characters, which every format shows. Without a best value it is
   * that of the metric which a rule has judged.
   */
  async #course({ experiment_id, rules = [] }: Experiment, row: ExperimentRow, best: string | undefined) {
    const met = rules.findLast((rule) => rule.met !== null);
    const metric = best ?? (met === undefined ? undefined : metricOf(met.rule));
    if (metric === undefined) return [];
    const count = row.metrics.get(metric)?.count ?? 0;
    if (count < 3 || count > maxCoursePoints) return [];
    const values: number[] = [];
    for await (const { runs } of readRuns(this.#context.records, experiment_id, new Set([metric])))
      for (const run of runs) for (const value of run.values) values.push(value);
    const drawn = courseText(values);
    return drawn === ''
      ? []
      : [{ name: best === undefined ? `Course of ${metric}` : 'Course', value: drawn }];
  }
}

type Leader = NonNullable<ReturnType<typeof rankProject>['best']>;

interface DescriberContext {
  records: TableReader<'records'>;
  accounts: TableReader<'accounts'>;
  now(): Date;
}

interface Best {
  metric: string;
  value: number;
  step: number | null;
}

/** Maximum number of points of a metric whose course a message shows. Reading more costs more than the picture is worth. */
const maxCoursePoints = 20_000;

const blocks = '▁▂▃▄▅▆▇█';

/** Draw values as block characters, at most 30. Leave out values that are not finite. */
export function courseText(values: readonly number[]): string {
  const finite = values.filter(Number.isFinite);
  if (finite.length < 2) return '';
  const columns = Math.min(30, finite.length);
  const means = Array.from({ length: columns }, (_, index) => {
    const from = Math.floor((index * finite.length) / columns);
    const part = finite.slice(from, Math.floor(((index + 1) * finite.length) / columns));
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
  const low = Math.min(...means);
  const range = Math.max(...means) - low || 1;
  return means.map((mean) => blocks[Math.round(((mean - low) / range) * (blocks.length - 1))]).join('');
}

const ofExperiments: ReadonlySet<string> = new Set([
  'experiment.started',
  'experiment.succeeded',
  'experiment.failed',
  'experiment.cancelled',
  'experiment.stopped',
  'metric.rule',
]);

const verbs: Readonly<Record<string, string>> = {
  'experiment.started': 'started',
  'experiment.succeeded': 'succeeded',
  'experiment.failed': 'failed',
  'experiment.cancelled': 'was cancelled',
  'experiment.stopped': 'was stopped',
  'metric.rule': 'meets a rule',
  'strategy.succeeded': 'succeeded',
  'strategy.failed': 'failed',
  'model.version': 'has a new version',
  'sweep.ended': 'ended',
  'schedule.paused': 'was paused',
  'budget.warning': 'is near its budget',
  'budget.reached': 'has reached its budget',
  'export.ready': 'is exported',
  'serving.failing': 'fails in service',
};

const tones: Readonly<Record<string, HookMessage['text']['tone']>> = {
  'experiment.succeeded': 'good',
  'experiment.failed': 'bad',
  'experiment.stopped': 'bad',
  'metric.rule': 'bad',
  'strategy.succeeded': 'good',
  'strategy.failed': 'bad',
  'schedule.paused': 'bad',
  'budget.warning': 'bad',
  'budget.reached': 'bad',
  'serving.failing': 'bad',
};

/**
 * Build the message of an event that is not about an experiment. Its facts are its data; `name` and `reason` among them
 * are shown to people.
 */
function otherMessage(
  notice: Notice,
  {
    project_name,
    facts,
    console_url,
  }: { project_name: string; facts: Readonly<Record<string, unknown>>; console_url: string | null },
): HookMessage {
  const { type, created_at, project_id } = notice;
  const { name, reason } = facts;
  return {
    type,
    timestamp: created_at,
    data: { project_id, ...facts },
    text: {
      title: `${typeof name === 'string' ? name : project_name} ${verbs[type] ?? type}`,
      tone: tones[type] ?? 'plain',
      reason: typeof reason === 'string' ? reason : null,
      facts: [{ name: 'Project', value: project_name }],
      link: console_url && subjectLink(console_url, notice, facts),
    },
  };
}

/** Return the link to the page of what an event is about; to that of the project if it has no other. */
function subjectLink(
  console_url: string,
  { type, project_id, subject }: Notice,
  { model_name, name, sweep_id, experiment_id }: Readonly<Record<string, unknown>>,
): string {
  if (type === 'serving.failing' && typeof name === 'string')
    return consoleLink(console_url, ['models', name, 'serving']);
  if (type.startsWith('strategy.') && typeof model_name === 'string')
    return consoleLink(console_url, ['models', model_name], { strategy: subject });
  const page = ['projects', project_id];
  if (typeof sweep_id === 'string') page.push('sweeps', sweep_id);
  else if (typeof experiment_id === 'string') page.push('experiments', experiment_id);
  else if (type.startsWith('budget.')) page.push('settings');
  return consoleLink(console_url, page);
}
