import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandError } from '../../../infra/command/command-error.ts';
import { readFlags } from '../../../infra/command/read-flags.ts';
import { runMain } from '../../../infra/command/run-main.ts';
import { startLocalService } from '../../support/local-service.ts';
import type { Outcome, Program } from './program.ts';
import { projects } from './projects.ts';
import { resultsTable } from './results-table.ts';
import { checkoutOf, folderName, tryProgram } from './try-program.ts';
import { wandbScripts } from './wandb-scripts.ts';

// `npm run proof -- programs`: takes public projects as they are from their folder to compared experiments.

const programs: readonly Program[] = [...projects, ...wandbScripts];
const password = 'a long sentence nobody guesses';
const usage = `Usage: npm run proof -- programs [-- --projects <folder>] [-- --only <name>] [-- --data <folder>]
  trains public projects as they are, twice each, compares the two experiments, and prints a table
  --projects  folder with checkouts of the repositories, such as <folder>/nanoGPT; those that are absent are left out
  --only      only this project, or those of this kind; may be repeated
  --data      folder of the service's data, which is kept with its installed packages
  --seconds   of one command at most; default 900
  --list      the projects, with their repositories`;

async function main(): Promise<number> {
  const { values: flags } = readFlags(usage, {
    options: {
      projects: { type: 'string' },
      only: { type: 'string', multiple: true, default: [] },
      data: { type: 'string' },
      seconds: { type: 'string', default: '900' },
      list: { type: 'boolean', default: false },
    },
  });
  if (flags.list) {
    for (const { name, from } of programs)
      say(`${name}: ${'repository' in from ? `https://github.com/${from.repository}` : from.archive}`);
    return 0;
  }
  const chosen = chooseProjects(flags.only);
  const found = chosen.filter(
    (one) => 'archive' in one.from || checkoutOf(one, flags.projects) !== undefined,
  );
  for (const { name } of chosen.filter((one) => !found.includes(one)))
    say(`left out  ${name}: not in the folder of --projects`);
  if (found.length === 0) throw new CommandError(`No project is there to train.\n${usage}`);

  const scratch = await mkdtemp(join(tmpdir(), 'mps-programs-'));
  await using undo = new AsyncDisposableStack();
  undo.defer(() => rm(scratch, { recursive: true, force: true, maxRetries: 5 }));
  const data = flags.data ?? join(scratch, 'data');
  const service = await startLocalService(['--data', data], { ADMIN_PASSWORD: password });
  if (!('url' in service)) throw new CommandError(service.output);
  undo.defer(async () => void (await service.end('SIGTERM')));
  const home = join(scratch, 'home');
  await mkdir(home);
  const tools = {
    ...{ scratch, home, checkouts: flags.projects, patience: Number(flags.seconds) },
    environment: { MPS_URL: service.url, MPS_TOKEN: await tokenOf(service.url) },
  };
  const outcomes: Outcome[] = [];
  // An hour's figures outlive an interrupt.
  process.once('SIGINT', () => {
    say(`\n${resultsTable(outcomes)}`);
    process.exit(130);
  });
  for (const [at, program] of found.entries()) {
    say(`${at + 1}/${found.length}  ${program.name} …`);
    const outcome = await tryProgram(program, projectOf(program), tools).catch((error) =>
      failed(program, error),
    );
    outcomes.push(outcome);
    const seconds = outcome.seconds.reduce((sum, one) => sum + one, 0);
    say(
      `      ${outcome.faults.length === 0 ? 'ok' : outcome.faults.join('; ')}, ${outcome.metrics.length} metrics (${seconds.toFixed(0)} s)`,
    );
  }
  say(`\n${resultsTable(outcomes)}\n`);
  const good = outcomes.filter(({ faults, edits }) => faults.length === 0 && edits === 0).length;
  say(`${good} of ${outcomes.length} projects were compared without an edit.`);
  return good >= outcomes.length * 0.9 ? 0 : 1;
}

const say = (text: string) => process.stdout.write(`${text}\n`);

function chooseProjects(names: readonly string[]): readonly Program[] {
  if (names.length === 0) return programs;
  const known = programs.flatMap(({ name, kind }) => [name, kind]);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new CommandError(
      `No project is named ${unknown.join(' or ')}. They are: ${[...new Set(known)].join(', ')}.`,
    );
  return programs.filter(({ name, kind }) => [name, kind].some((one) => names.includes(one)));
}

/** Return the project of the service: that of the first program with the same list of packages. */
const projectOf = (program: Program): string =>
  folderName(
    (programs.find(({ packages }) => packages !== undefined && packages === program.packages) ?? program)
      .name,
  );

function failed({ name, kind, packages }: Program, error: unknown): Outcome {
  const [text = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return {
    ...{ name, kind, edits: 0, isTold: packages !== undefined, seconds: [], curves: [], metrics: [] },
    ...{ source: null, params: 0, best: '', files: 0, compared: [], faults: [text] },
  };
}

async function tokenOf(url: string): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'password', username: 'admin', password });
  const answer = await fetch(`${url}/auth/token`, { method: 'POST', body });
  const { access_token }: { access_token: string } = JSON.parse(await answer.text());
  return access_token;
}

await runMain(main);
