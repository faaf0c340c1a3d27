import type { endpoint as readLive } from '../../functions/experiments/live/read-live-experiment.endpoint.ts';
import type { endpoint as cancelExperiment } from '../../functions/experiments/records/cancel-experiment.endpoint.ts';
import type { endpoint as readLogs } from '../../functions/experiments/records/read-logs.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';
import { consoleLink, consoleOf } from '../../shared/client/console-link.ts';
import { followLive } from '../../shared/client/follow-live.ts';
import type { RowOf } from '../../shared/client/route.ts';
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
 * seconds cancels it.
 *
 * @throws CliError if the user detaches
 */
export function followExperiment(
  client: Client,
  path: ExperimentPath,
  printer: Printer,
  { onLine, what = 'training' }: Following = {},
): Promise<Ended> {
  const { experiment_id } = path;
  const cancel = async () => {
    const route = 'POST /projects/{project_id}/experiments/{experiment_id}/cancel';
    await client.call<typeof cancelExperiment>(route, { path });
    return `Cancelled ${experiment_id}.`;
  };
  const again = `mps logs -f ${experiment_id}`;
  return detachable((signal) => followToEnd(client, path, { printer, signal, onLine }), {
    printer,
    what,
    again,
    cancel,
  });
}

/** Show the log and the state of an experiment until it ends, or until the signal. */
export const followToEnd = (
  client: Client,
  path: ExperimentPath,
  { onLine, ...followed }: Omit<Followed, 'onLine'> & Partial<Pick<Followed, 'onLine'>>,
): Promise<Ended> => new Follower(client, path, { ...followed, onLine }).follow();

interface Following {
  onLine?: ((line: LogLine) => void) | undefined;
  /** Kind of the job, for what is said after Ctrl-C. */
  what?: 'training' | 'export';
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

/** Last log lines to remember, so the status reason does not repeat them. */
const knownLines = 100;

/** Milliseconds between two updates of the running time. */
const clockMilliseconds = 1_000;

class Follower {
  readonly #client: Client;
  readonly #path: ExperimentPath;
  readonly #printer: Printer;
  readonly #line: LiveLine;
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
    const route = 'GET /projects/{project_id}/experiments/{experiment_id}/live';
    const ask = (after: string | undefined) =>
      this.#client.call<typeof readLive>(route, {
        path: this.#path,
        query: { parts: ['log'], ...(after !== undefined && { after }) },
        signal: this.#signal,
      });
    let experiment: Experiment | undefined;
    let since = performance.now();
    const clock = setInterval(() => {
      if (experiment !== undefined) this.#line.set(statusLine(experiment, performance.now() - since));
    }, clockMilliseconds);
    try {
      const following = { signal: this.#signal, onConnection: this.#connection };
      for await (const live of followLive(ask, following)) {
        experiment = live.experiment;
        since = performance.now();
        this.#showState(experiment);
        this.#showLog(live.log);
      }
    } finally {
      clearInterval(clock);
      this.#line.end();
    }
    if (experiment === undefined) throw new TypeError('the service did not say how the experiment ended');
    const reason = experiment.status_reason?.split('\n') ?? [];
    const unsaid = reason.filter((line) => !this.#lines.includes(line)).join('\n');
    return { experiment, unsaid };
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

  #showState(experiment: Experiment): void {
    const state = stateText(experiment);
    if (state !== this.#shown && !hasEnded(experiment))
      this.#line.above(() => this.#printer.say(`  ${state}`));
    this.#shown = state;
    this.#line.set(statusLine(experiment, 0));
  }

  #showLog(rows: readonly LogLine[]): void {
    for (const row of rows) {
      if (this.#lines.push(row.message.trimEnd()) > knownLines) this.#lines.shift();
      this.#line.above(() => this.#onLine(row));
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
function statusLine(experiment: Experiment, passedMilliseconds: number): string {
  const { duration, cost, metrics } = experiment;
  const passed = hasEnded(experiment) ? 0 : passedMilliseconds / 1000;
  const parts = [
    stateText(experiment),
    ...(duration === null ? [] : [secondsText(duration + passed)]),
    ...Object.entries(metrics)
      .slice(0, 4)
      .map(([name, { last }]) => `${name} ${numberText(Number(last))}`),
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
