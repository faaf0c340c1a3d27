import type { endpoint as readMetrics } from '../../functions/experiments/metrics/read-metrics.endpoint.ts';
import type { endpoint as cancelExperiment } from '../../functions/experiments/records/cancel-experiment.endpoint.ts';
import type { endpoint as readExperiment } from '../../functions/experiments/records/read-experiment.endpoint.ts';
import type { endpoint as readLogs } from '../../functions/experiments/records/read-logs.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';
import { consoleLink, consoleOf } from '../../shared/client/console-link.ts';
import { followRows } from '../../shared/client/follow-rows.ts';
import { ProblemError } from '../../shared/client/problem-error.ts';
import { wait } from '../../shared/client/retry.ts';
import type { RowOf } from '../../shared/client/route.ts';
import { UnreachableError } from '../../shared/client/unreachable-error.ts';
import { exitCodes } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { LiveLine } from '../output/live-line.ts';
import type { Printer } from '../output/printer.ts';
import { dollarsText, numberText, secondsText } from '../output/units.ts';
import { detachable } from './detachable.ts';
import type { Experiment } from './experiment.ts';
import { bestText } from './metric-text.ts';

/**
 * Show the log and the state of an experiment until it ends. The first Ctrl-C detaches. A second one within two
 * seconds cancels the training.
 *
 * @throws CliError if the user detaches
 */
export function followExperiment(
  client: Client,
  path: ExperimentPath,
  printer: Printer,
  onLine?: (line: LogLine) => void,
): Promise<Ended> {
  const { experiment_id } = path;
  const cancel = async () => {
    const route = 'POST /projects/{project_id}/experiments/{experiment_id}/cancel';
    await client.call<typeof cancelExperiment>(route, { path });
    return `Cancelled ${experiment_id}.`;
  };
  const again = `mps logs -f ${experiment_id}`;
  return detachable((signal) => new Follower(client, path, { printer, signal, onLine }).follow(), {
    printer,
    what: 'training',
    again,
    cancel,
  });
}

interface ExperimentPath {
  project_id: string;
  experiment_id: string;
}

export type LogLine = RowOf<typeof readLogs>;

/** An experiment that has ended. */
interface Ended {
  experiment: Experiment;
  /** Lines of the status reason that the log does not contain; empty if there are none. */
  unsaid: string;
}

/** Lines of a page. A page of the maximum size would take 4 MB. */
const linesAtOnce = 5_000;

/** Last log lines to remember, so the status reason does not repeat them. */
const knownLines = 100;

const pollMilliseconds = 1_000;

class Follower {
  readonly #client: Client;
  readonly #path: ExperimentPath;
  readonly #printer: Printer;
  readonly #line: LiveLine;
  readonly #metrics = new Map<string, number>();
  readonly #signal: AbortSignal;
  readonly #onLine: (line: LogLine) => void;
  #shown = '';
  readonly #lines: string[] = [];

  constructor(client: Client, path: ExperimentPath, { printer, signal, onLine }: Followed) {
    this.#client = client;
    this.#path = path;
    this.#printer = printer;
    this.#line = new LiveLine(printer);
    this.#signal = signal;
    this.#onLine = onLine ?? ((line) => this.#print(line));
  }

  async follow(): Promise<Ended> {
    // Stop reading metrics when the experiment ends. Ignore their errors, because they only decorate the status
    // line.
    const ended = new AbortController();
    const metrics = this.#followMetrics(AbortSignal.any([this.#signal, ended.signal])).catch(() => {});
    try {
      const [experiment] = await Promise.all([this.#followStatus(), this.#followLog()]);
      const reason = experiment.status_reason?.split('\n') ?? [];
      const unsaid = reason.filter((line) => !this.#lines.includes(line)).join('\n');
      return { experiment, unsaid };
    } finally {
      ended.abort();
      await metrics;
      this.#line.end();
    }
  }

  #connection = (isLost: boolean): void => {
    const text = isLost ? 'The service cannot be reached; retrying…' : 'The service can be reached again.';
    this.#line.above(() => this.#printer.say(text));
  };

  #print({ stream, message }: LogLine): void {
    if (stream === 'service') this.#printer.say(this.#printer.style('dim', message));
    else if (stream === 'stderr') this.#printer.say(message);
    else this.#printer.line(message);
  }

  async #followLog(): Promise<void> {
    const following = { signal: this.#signal, onConnection: this.#connection };
    const route = 'GET /projects/{project_id}/experiments/{experiment_id}/logs';
    for await (const rows of followRows<typeof readLogs>(
      this.#client,
      route,
      { path: this.#path, query: { limit: linesAtOnce } },
      following,
    ))
      for (const row of rows) {
        if (this.#lines.push(row.message.trimEnd()) > knownLines) this.#lines.shift();
        this.#line.above(() => this.#onLine(row));
      }
  }

  async #followMetrics(signal: AbortSignal): Promise<void> {
    const following = { signal, pollMilliseconds: 2_000 };
    const route = 'GET /projects/{project_id}/experiments/{experiment_id}/metrics';
    for await (const rows of followRows<typeof readMetrics>(
      this.#client,
      route,
      { path: this.#path },
      following,
    ))
      for (const { name, value } of rows) this.#metrics.set(name, Number(value));
  }

  async #followStatus(): Promise<Experiment> {
    const route = 'GET /projects/{project_id}/experiments/{experiment_id}';
    for (;;) {
      try {
        const experiment = await this.#client.call<typeof readExperiment>(route, {
          path: this.#path,
          signal: this.#signal,
        });
        const state = stateText(experiment);
        if (state !== this.#shown && !hasEnded(experiment))
          this.#line.above(() => this.#printer.say(`  ${state}`));
        this.#shown = state;
        this.#line.set(statusLine(experiment, this.#metrics));
        if (hasEnded(experiment)) return experiment;
      } catch (error) {
        // The log reader already reports the lost connection.
        const isAway =
          error instanceof UnreachableError || (error instanceof ProblemError && error.status === 503);
        if (!isAway) throw error;
      }
      await wait(pollMilliseconds, this.#signal);
    }
  }
}

interface Followed {
  printer: Printer;
  signal: AbortSignal;
  /** Called with each line of the log; prints it if undefined. */
  onLine: ((line: LogLine) => void) | undefined;
}

const stateText = ({ status, status_reason }: Experiment): string =>
  status_reason === null ? status : `${status}: ${status_reason}`;

const hasEnded = ({ status }: Pick<Experiment, 'status'>): boolean =>
  ['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(status);

/** Return the status line below the log: state, time, last metrics, cost. */
function statusLine(experiment: Experiment, metrics: ReadonlyMap<string, number>): string {
  const { duration, cost } = experiment;
  const parts = [
    stateText(experiment),
    ...(duration === null ? [] : [secondsText(duration)]),
    ...[...metrics].slice(0, 4).map(([name, value]) => `${name} ${numberText(value)}`),
    ...(cost === null ? [] : [dollarsText(cost)]),
  ];
  return parts.join('  ');
}

/** Return the exit code of an experiment's program; 1 if it failed without one. */
export const programExitCode = ({ status, exit_code }: Experiment): number =>
  status === 'SUCCEEDED' ? 0 : exit_code || exitCodes.failure;

/** Say where the console shows a new experiment. Print its ID with `detach`. Otherwise follow it and exit with its program's code. */
export async function showToEnd(
  { printer, process }: CliContext,
  client: Client,
  begun: Experiment,
  { detach, json }: { detach?: boolean | undefined; json?: boolean | undefined },
): Promise<void> {
  const { project_id, experiment_id } = begun;
  const page = consoleLink(consoleOf(client.url), ['projects', project_id, 'experiments', experiment_id]);
  printer.say(`console     ${page}`);
  if (detach) {
    if (json) printer.json(begun);
    else printer.line(experiment_id);
    return;
  }
  const { experiment: ended, unsaid } = await followExperiment(
    client,
    { project_id, experiment_id },
    printer,
  );
  if (json) printer.json(ended);
  const best = ended.best === null ? '' : `, best ${bestText(ended)}`;
  const reason = unsaid === '' ? '' : `: ${unsaid}`;
  printer.say(`${ended.status} in ${secondsText(ended.duration ?? 0)}${best}${reason}`);
  process.exitCode = programExitCode(ended);
}
