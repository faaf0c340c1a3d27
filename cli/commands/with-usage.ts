import type { Command } from '@stricli/core';
import type { CliContext } from '../context.ts';

/**
 * Give a command another line of usage. Stricli writes a list of any length as one that must have a word.
 *
 * @param usage words after the name of the command, such as `[ID ID...]`
 */
export function withUsage(command: Command<CliContext>, usage: string): Command<CliContext> {
  type Formatting = Parameters<typeof command.formatUsageLine>[0];
  const formatUsageLine = ({ prefix }: Formatting) => [...prefix, usage].join(' ');
  return {
    ...command,
    formatUsageLine,
    formatHelp: (args) =>
      command.formatHelp(args).replace(command.formatUsageLine(args), () => formatUsageLine(args)),
  };
}
