import type { endpoint as cancelSweep } from '../../functions/projects/sweeps/cancel-sweep.endpoint.ts';
import type { endpoint as listTrials } from '../../functions/projects/sweeps/list-trials.endpoint.ts';
import type { endpoint as readSweep } from '../../functions/projects/sweeps/read-sweep.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';
import { ProblemError } from '../../shared/client/problem-error.ts';
import { wait } from '../../shared/client/retry.ts';
import { UnreachableError } from '../../shared/client/unreachable-error.ts';
import { quoteCommand } from '../../shared/command/quote-command.ts';
import { foldTrials } from '../../shared/sweeps/fold-trials.ts';
import { exitCodes } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { detachable } from '../experiments/detachable.ts';
import { LiveLine } from '../output/live-line.ts';
import type { Printer } from '../output/printer.ts';
import type { Sweep } from './begin-sweep.ts';
import type { SweepPath } from './find-sweep.ts';
import { progressText, type TrialRow, trialText, valueAtBest } from './trial-text.ts';

/**
 * Show each trial of a sweep that ends, and below them how far the sweep is, until it ends or pauses. Ctrl-C leaves it
 * running. A second one within two seconds cancels it.
 *
 * @param isNew whether to show the trials from the first one
 * @throws CliError if the user detaches
 */
export async function followSweep(
  { printer, process }: CliContext,
  client: Client,
  { project_id, sweep_id }: SweepPath,
  { isNew, json: isJson = false }: { isNew: boolean; json?: boolean | undefined },
): Promise<void> {
  const path = { project_id, sweep_id };
  const again = `mps sweep show -f ${sweep_id}`;
  const cancel = async () => {
    await client.call<typeof cancelSweep>('POST /projects/{project_id}/sweeps/{sweep_id}/cancel', { path });
    return `Cancelled ${sweep_id}.`;
  };
  const print = (text: string) => (isJson ? printer.say(text) : printer.line(text));
  const follower = (signal: AbortSignal) => new Follower(client, path, { printer, print, signal, isNew });
  const sweep = await detachable((signal) => follower(signal).follow(), {
    printer,
    what: 'sweep',
    again,
    cancel,
  });
  if (isJson) printer.json(sweep);
  for (const line of endText(sweep)) printer.say(line);
  process.exitCode = sweep.status === 'COMPLETED' ? 0 : exitCodes.failure;
}

/** Return what to say after a sweep has ended or paused: how, its best trial, and what to do next. */
export function endText(sweep: Sweep): string[] {
  const { sweep_id, status, status_reason, best, counts, args } = sweep;
  const { status: _, ...rest } = sweep;
  const lines = [progressText({ ...rest, status }) + (status_reason === null ? '' : `: ${status_reason}`)];
  if (best !== null) {
    const values = Object.entries(best.params).map(([name, value]) =>
      quoteCommand([`${args ? `--${name.replaceAll('_', '-')}` : name}=${value}`]),
    );
    lines.push(`To train with the best values: mps run${values.map((value) => ` -S ${value}`).join('')}`);
  }
  if (status === 'PAUSED') {
    const isBudget = sweep.budget !== null && status_reason?.includes('budget') === true;
    lines.push(`To go on: mps sweep resume ${sweep_id}${isBudget ? ' --budget US$' : ''}`);
  }
  if (counts.failed > 0 && status !== 'CANCELLED')
    lines.push(`To try the failed ones again: mps sweep retry ${sweep_id}`);
  return lines;
}

const pollMilliseconds = 1_000;

/** Rows of a request. */
const rowsAtOnce = 200;

class Follower {
  readonly #client: Client;
  readonly #path: SweepPath;
  readonly #printer: Printer;
  readonly #print: (text: string) => void;
  readonly #line: LiveLine;
  readonly #signal: AbortSignal;
  readonly #rows = new Map<string, TrialRow>();
  /** Trials that were shown, or had ended before. */
  readonly #shown = new Set<number>();
  /** Page from which rows are read: all before it have ended. */
  #from: string | undefined;
  #isFirst: boolean;
  #best: string | undefined;
  #isAway = false;

  constructor(client: Client, path: SweepPath, { printer, print, signal, isNew }: Followed) {
    this.#client = client;
    this.#path = path;
    this.#printer = printer;
    this.#print = print;
    this.#line = new LiveLine(printer);
    this.#signal = signal;
    this.#isFirst = !isNew;
  }

  async follow(): Promise<Sweep> {
    let seen = '';
    try {
      for (;;) {
        const sweep = await this.#read();
        if (sweep !== undefined) {
          if (sweep.updated_at !== seen && (await this.#showTrials(sweep))) seen = sweep.updated_at;
          this.#line.set(progressText(sweep));
          if (hasStopped(sweep) && sweep.updated_at === seen) return sweep;
        }
        await wait(pollMilliseconds, this.#signal);
      }
    } finally {
      this.#line.end();
    }
  }

  #read(): Promise<Sweep | undefined> {
    const route = 'GET /projects/{project_id}/sweeps/{sweep_id}';
    const request = { path: this.#path, signal: this.#signal };
    return this.#unlessAway(() => this.#client.call<typeof readSweep>(route, request));
  }

  /** Return undefined while the service cannot be reached. Say so once, and once it can be reached again. */
  async #unlessAway<T>(act: () => Promise<T>): Promise<T | undefined> {
    try {
      const answer = await act();
      if (this.#isAway) this.#say('The service can be reached again.');
      this.#isAway = false;
      return answer;
    } catch (error) {
      const isAway =
        error instanceof UnreachableError || (error instanceof ProblemError && error.status === 503);
      if (!isAway) throw error;
      if (!this.#isAway) this.#say('The service cannot be reached; retrying…');
      this.#isAway = true;
      return undefined;
    }
  }

  #say(text: string): void {
    this.#line.above(() => this.#printer.say(text));
  }

  /** Print the trials that have ended since the last call. Return whether their rows could be read. */
  async #showTrials(sweep: Sweep): Promise<boolean> {
    if ((await this.#unlessAway(() => this.#readRows())) === undefined) return false;
    for (const trial of foldTrials(this.#rows.values(), sweep)) {
      if (trial.outcome === 'running') this.#shown.delete(trial.trial);
      else if (!this.#shown.has(trial.trial)) {
        this.#shown.add(trial.trial);
        if (!this.#isFirst) this.#line.above(() => this.#print(trialText(trial, sweep.metric)));
      }
    }
    const { best, metric } = sweep;
    const text = best === null ? '' : `best so far: #${best.trial} ${metric} ${valueAtBest(best)}`;
    // A terminal has the line below.
    if (text !== '' && text !== this.#best && !this.#printer.isLive) this.#printer.say(text);
    this.#best = text;
    if (this.#isFirst && this.#shown.size > 0)
      this.#say(`${this.#shown.size} trials have ended before; mps sweep show ${sweep.sweep_id} lists them.`);
    this.#isFirst = false;
    return true;
  }

  async #readRows(): Promise<true> {
    const route = 'GET /projects/{project_id}/sweeps/{sweep_id}/trials';
    const request = { path: this.#path, query: { limit: rowsAtOnce }, signal: this.#signal };
    let from = this.#from;
    for (;;) {
      const { rows, next } = await this.#client.page<typeof listTrials>(route, request, from);
      for (const row of rows) this.#rows.set(`${row.trial} ${row.repeat}`, row);
      if (next === undefined) return true;
      if (from === this.#from && rows.every(({ outcome }) => outcome !== null)) this.#from = next;
      from = next;
    }
  }
}

interface Followed {
  printer: Printer;
  /** Prints the line of a trial. */
  print(text: string): void;
  signal: AbortSignal;
  isNew: boolean;
}

/** Whether nothing of a sweep runs, and nothing begins by itself. */
const hasStopped = ({ status, counts }: Sweep): boolean => status !== 'RUNNING' && counts.running === 0;
