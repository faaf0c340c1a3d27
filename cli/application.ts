import { buildApplication, buildRouteMap, help, text_en, version as versionFlag } from '@stricli/core';
import { cancelCommand } from './commands/cancel.ts';
import { compareCommand } from './commands/compare.ts';
import { completionCommand } from './commands/completion.ts';
import { configRoutes } from './commands/config.ts';
import { dataRoutes } from './commands/data.ts';
import { envRoutes } from './commands/env.ts';
import { exportCommand } from './commands/export.ts';
import { importCommand } from './commands/import.ts';
import { loginCommand } from './commands/login.ts';
import { logoutCommand } from './commands/logout.ts';
import { logsCommand } from './commands/logs.ts';
import { lsCommand } from './commands/ls.ts';
import { modelRoutes } from './commands/models.ts';
import { openCommand } from './commands/open.ts';
import { pruneCommand, quantizeCommand } from './commands/optimize.ts';
import { pullCommand } from './commands/pull.ts';
import { receiptCommand } from './commands/receipt.ts';
import { rerunCommand } from './commands/rerun.ts';
import { rmCommand } from './commands/rm.ts';
import { runCommand } from './commands/run.ts';
import { showCommand } from './commands/show.ts';
import { tokenRoutes } from './commands/tokens.ts';
import { userRoutes } from './commands/users.ts';
import { whoamiCommand } from './commands/whoami.ts';
import type { CliContext } from './context.ts';
import { errorText, exitCodeOf } from './error-text.ts';
import { version } from './version.ts';

const routes = buildRouteMap<string, CliContext>({
  routes: {
    run: runCommand,
    rerun: rerunCommand,
    ls: lsCommand,
    show: showCommand,
    logs: logsCommand,
    compare: compareCommand,
    pull: pullCommand,
    cancel: cancelCommand,
    rm: rmCommand,
    data: dataRoutes,
    config: configRoutes,
    env: envRoutes,
    models: modelRoutes,
    quantize: quantizeCommand,
    prune: pruneCommand,
    receipt: receiptCommand,
    export: exportCommand,
    import: importCommand,
    open: openCommand,
    login: loginCommand,
    logout: logoutCommand,
    whoami: whoamiCommand,
    users: userRoutes,
    tokens: tokenRoutes,
    completion: completionCommand,
  },
  docs: {
    brief: 'Trains models: from a folder to a finished experiment in one command',
    fullDescription: `Trains models: from a folder to a finished experiment in one command.

Exit codes: 1 failed, 2 wrong usage, 3 the service cannot be reached, 4 not signed in; "mps run" ends as its program does.`,
  },
});

/** The command line as a whole. `isVerbose` says how errors are told. */
export const application = (isVerbose: boolean) => {
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
