import { buildApplication, buildRouteMap, help, run, text_en, version as versionFlag } from '@stricli/core';
import { quoteCommand } from '../shared/command/quote-command.ts';
import { errorText, exitCodeOf, exitCodes } from './cli-error.ts';
import { ciRoutes } from './commands/account/ci.ts';
import { loginCommand } from './commands/account/login.ts';
import { logoutCommand } from './commands/account/logout.ts';
import { tokenRoutes } from './commands/account/tokens.ts';
import { userRoutes } from './commands/account/users.ts';
import { whoamiCommand } from './commands/account/whoami.ts';
import { completionCommand } from './commands/completion.ts';
import { cancelCommand } from './commands/experiments/cancel.ts';
import { compareCommand } from './commands/experiments/compare.ts';
import { logsCommand } from './commands/experiments/logs.ts';
import { lsCommand } from './commands/experiments/ls.ts';
import { pullCommand } from './commands/experiments/pull.ts';
import { rerunCommand } from './commands/experiments/rerun.ts';
import { rmCommand } from './commands/experiments/rm.ts';
import { runCommand } from './commands/experiments/run.ts';
import { showCommand } from './commands/experiments/show.ts';
import { mcpCommand } from './commands/mcp.ts';
import { inferCommand } from './commands/models/infer.ts';
import { measureCommand } from './commands/models/measure.ts';
import { modelRoutes } from './commands/models/models.ts';
import { pruneCommand, quantizeCommand } from './commands/models/optimize.ts';
import { receiptCommand } from './commands/models/receipt.ts';
import { serveCommand } from './commands/models/serve.ts';
import { openCommand } from './commands/open.ts';
import { auditCommand } from './commands/project/audit.ts';
import { budgetCommand } from './commands/project/budget.ts';
import { configRoutes } from './commands/project/config.ts';
import { dataRoutes } from './commands/project/data.ts';
import { envRoutes } from './commands/project/env.ts';
import { exportCommand } from './commands/project/export.ts';
import { hookRoutes } from './commands/project/hooks.ts';
import { importCommand } from './commands/project/import.ts';
import { memberRoutes } from './commands/project/members.ts';
import { projectCommand } from './commands/project/project.ts';
import { projectsCommand } from './commands/project/projects.ts';
import { shareRoutes } from './commands/project/share.ts';
import { scheduleRoutes } from './commands/schedules/schedules.ts';
import { sweepRoutes } from './commands/sweeps/sweeps.ts';
import type { CliContext } from './context.ts';
import { usageErrorText } from './usage-error.ts';
import { version } from './version.ts';

/**
 * Build the `mps` application.
 *
 * @param isVerbose whether an error shows its details
 * @param command first word of the command line, for the next step after an error
 */
export const application = (isVerbose: boolean, command = '') => {
  const failed = (error: unknown) => errorText(error, isVerbose);
  return buildApplication<CliContext>(
    routes,
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
        formatting: {
          caseStyle: 'convert-camel-to-kebab',
          useAliasInUsageLine: false,
          onlyRequiredInUsageLine: true,
        },
      }),
      version: versionFlag({ brief: 'Show the version', info: { currentVersion: version }, alias: false }),
    },
  );
};

const routes = buildRouteMap<string, CliContext>({
  routes: {
    run: runCommand,
    rerun: rerunCommand,
    sweep: sweepRoutes,
    schedule: scheduleRoutes,
    ls: lsCommand,
    show: showCommand,
    logs: logsCommand,
    compare: compareCommand,
    pull: pullCommand,
    cancel: cancelCommand,
    rm: rmCommand,
    project: projectCommand,
    projects: projectsCommand,
    members: memberRoutes,
    budget: budgetCommand,
    audit: auditCommand,
    share: shareRoutes,
    data: dataRoutes,
    config: configRoutes,
    env: envRoutes,
    hooks: hookRoutes,
    models: modelRoutes,
    quantize: quantizeCommand,
    prune: pruneCommand,
    receipt: receiptCommand,
    serve: serveCommand,
    infer: inferCommand,
    measure: measureCommand,
    export: exportCommand,
    import: importCommand,
    open: openCommand,
    login: loginCommand,
    logout: logoutCommand,
    whoami: whoamiCommand,
    users: userRoutes,
    tokens: tokenRoutes,
    ci: ciRoutes,
    mcp: mcpCommand,
    completion: completionCommand,
  },
  docs: {
    brief: 'Trains models: from a folder to a finished experiment in one command',
    fullDescription: `Trains models: from a folder to a finished experiment in one command.

Exit codes: 1 failed, 2 wrong usage, 3 the service cannot be reached, 4 not signed in or a gate failed; "mps run" exits with the code of its program.`,
  },
});

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
  await run(application(own.includes('--verbose'), own[0] ?? ''), words, context);
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
