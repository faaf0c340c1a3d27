import {
  type Application,
  buildApplication,
  buildCommand,
  buildRouteMap,
  type Command,
  help,
  type RouteMap,
  run,
  text_en,
  version as versionFlag,
} from '@stricli/core';
import { quoteCommand } from '../shared/command/quote-command.ts';
import { errorText, exitCodeOf, exitCodes } from './cli-error.ts';
import type { CliContext } from './context.ts';
import { usageErrorText } from './usage-error.ts';
import { version } from './version.ts';

/**
 * Build the `mps` application.
 *
 * @param isVerbose whether an error shows its details
 * @param command first word of the command line. It loads this command alone, or all if there is none of that name
 */
export async function application(isVerbose: boolean, command = ''): Promise<Application<CliContext>> {
  const failed = (error: unknown) => errorText(error, isVerbose);
  return buildApplication<CliContext>(
    await loadRoutes(command),
    {
      name: 'mps',
      scanner: { caseStyle: 'allow-kebab-for-camel', allowArgumentEscapeSequence: true },
      documentation: { disableAnsiColor: true },
      determineExitCode: exitCodeOf,
      localization: {
        text: {
          ...text_en,
          exceptionWhileParsingArguments: (error) => usageErrorText(error, command),
          exceptionWhileRunningCommand: failed,
          exceptionWhileLoadingCommandContext: failed,
        },
      },
    },
    {
      help: help({
        brief: 'Show what a command does, with examples',
        defaultForRouteMap: true,
        formatting: {
          caseStyle: 'convert-camel-to-kebab',
          useAliasInUsageLine: false,
          onlyRequiredInUsageLine: true,
        },
      }),
      version: versionFlag({ brief: 'Show the version', info: { currentVersion: version }, alias: false }),
    },
  );
}

/** The commands. Each is loaded when it is called, so that a start does not wait for what others need. */
const commands: Readonly<Record<string, () => Promise<RoutingTarget>>> = {
  run: async () => (await import('./commands/experiments/run.ts')).runCommand,
  rerun: async () => (await import('./commands/experiments/rerun.ts')).rerunCommand,
  sweep: async () => (await import('./commands/sweeps/sweeps.ts')).sweepRoutes,
  schedule: async () => (await import('./commands/schedules/schedules.ts')).scheduleRoutes,
  ls: async () => (await import('./commands/experiments/ls.ts')).lsCommand,
  show: async () => (await import('./commands/experiments/show.ts')).showCommand,
  logs: async () => (await import('./commands/experiments/logs.ts')).logsCommand,
  compare: async () => (await import('./commands/experiments/compare.ts')).compareCommand,
  pull: async () => (await import('./commands/experiments/pull.ts')).pullCommand,
  cancel: async () => (await import('./commands/experiments/cancel.ts')).cancelCommand,
  rm: async () => (await import('./commands/experiments/rm.ts')).rmCommand,
  project: async () => (await import('./commands/project/project.ts')).projectCommand,
  projects: async () => (await import('./commands/project/projects.ts')).projectsCommand,
  members: async () => (await import('./commands/project/members.ts')).memberRoutes,
  budget: async () => (await import('./commands/project/budget.ts')).budgetCommand,
  audit: async () => (await import('./commands/project/audit.ts')).auditCommand,
  share: async () => (await import('./commands/project/share.ts')).shareRoutes,
  data: async () => (await import('./commands/project/data.ts')).dataRoutes,
  config: async () => (await import('./commands/project/config.ts')).configRoutes,
  env: async () => (await import('./commands/project/env.ts')).envRoutes,
  hooks: async () => (await import('./commands/project/hooks.ts')).hookRoutes,
  models: async () => (await import('./commands/models/models.ts')).modelRoutes,
  compress: async () => (await import('./commands/models/compress.ts')).compressCommand,
  quantize: async () => (await import('./commands/models/optimize.ts')).quantizeCommand,
  prune: async () => (await import('./commands/models/optimize.ts')).pruneCommand,
  receipt: async () => (await import('./commands/models/receipt.ts')).receiptCommand,
  serve: async () => (await import('./commands/models/serve.ts')).serveCommand,
  infer: async () => (await import('./commands/models/infer.ts')).inferCommand,
  measure: async () => (await import('./commands/models/measure.ts')).measureCommand,
  export: async () => (await import('./commands/project/export.ts')).exportCommand,
  import: async () => (await import('./commands/project/import.ts')).importCommand,
  open: async () => (await import('./commands/open.ts')).openCommand,
  login: async () => (await import('./commands/account/login.ts')).loginCommand,
  logout: async () => (await import('./commands/account/logout.ts')).logoutCommand,
  whoami: async () => (await import('./commands/account/whoami.ts')).whoamiCommand,
  users: async () => (await import('./commands/account/users.ts')).userRoutes,
  tokens: async () => (await import('./commands/account/tokens.ts')).tokenRoutes,
  ci: async () => (await import('./commands/account/ci.ts')).ciRoutes,
  mcp: async () => (await import('./commands/mcp.ts')).mcpCommand,
  completion: async () => (await import('./commands/completion.ts')).completionCommand,
};

type RoutingTarget = Command<CliContext> | RouteMap<CliContext>;

/** Stands for a command that was not called. */
const notLoaded = buildCommand<Record<never, never>, [], CliContext>({
  func: () => {},
  parameters: {},
  docs: { brief: 'Not loaded' },
});

async function loadRoutes(called: string): Promise<RouteMap<CliContext>> {
  const isOne = called === '--version' || Object.hasOwn(commands, called);
  const routes = await Promise.all(
    Object.entries(commands).map(async ([name, load]) => [
      name,
      isOne && name !== called ? notLoaded : await load(),
    ]),
  );
  return buildRouteMap<string, CliContext>({
    routes: Object.fromEntries(routes),
    docs: {
      brief: 'Trains models: from a folder to a finished experiment in one command',
      fullDescription: `Trains models: from a folder to a finished experiment in one command.

Exit codes: 1 failed, 2 wrong usage, 3 the service cannot be reached, 4 not signed in or a gate failed; "mps run" exits with the code of its program.`,
    },
  });
}

/**
 * Split several conditions after one `--gate` into one `--gate` each. Move a `--gate` without a condition to the
 * end, so it does not take the next word as its value.
 */
function conditionsApart(words: readonly string[]): string[] {
  if (words[0] !== 'measure') return [...words];
  const isCondition = (word: string | undefined): boolean => word !== undefined && /[<>]/.test(word);
  const isBare = words.some((word, at) => word === '--gate' && !isCondition(words[at + 1]));
  const others = words.flatMap((word) => {
    if (word === '--gate') return [];
    return isCondition(word) && !word.startsWith('--') ? [`--gate=${word}`] : [word];
  });
  return isBare ? [...others, '--gate'] : others;
}

/** Run a command line and return its exit code. Print errors instead of throwing them. */
export async function runInputs(inputs: readonly string[], context: CliContext): Promise<number> {
  const end = inputs.indexOf('--');
  const own = conditionsApart(joined(end === -1 ? inputs : inputs.slice(0, end)));
  const words = end === -1 ? own : [...own, ...afterHyphens(own[0], inputs.slice(end + 1))];
  context.process.exitCode = null;
  await run(await application(own.includes('--verbose'), own[0]), words, context);
  const exitCode = Number(context.process.exitCode ?? 0);
  // Stricli's own exit codes are negative, and all of them mean wrong usage.
  return exitCode < 0 ? exitCodes.usage : exitCode;
}

/** Commands that take one word at most, so the command after `--` is a flag of theirs. */
const commandIsFlag = ['rerun', 'sweep', 'schedule'];

/** Return the words after `--` as Stricli reads them. */
const afterHyphens = (command: string | undefined, words: readonly string[]): string[] =>
  commandIsFlag.includes(command ?? '') && words.length > 0
    ? ['--command', quoteCommand(words)]
    : ['--', ...words];

/**
 * Join `--sort -accuracy`, `--spot only` and `-S --lr=0.4` into one word. Stricli would read a value that begins with a hyphen as
 * flags.
 */
function joined(words: readonly string[]): string[] {
  const result: string[] = [];
  for (const word of words) {
    const before = result.at(-1);
    const isValue = before === '--sort' && /^-[A-Za-z_]/.test(word);
    const isFlagValue = (before === '-S' || before === '--set') && /^--?[A-Za-z_][^=]*=/.test(word);
    if (isValue || isFlagValue) result[result.length - 1] = `${before}=${word}`;
    else if (before === bareSpot && /^(?:only|never)$/.test(word))
      result[result.length - 1] = `--spot=${word}`;
    // Without a value it must not take the next word.
    else if (word === '--spot') result.push(bareSpot);
    else result.push(word);
  }
  return result;
}

/** `--spot` without a value. */
const bareSpot = '--spot=first';
