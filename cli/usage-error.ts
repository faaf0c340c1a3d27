import {
  type ArgumentParseError,
  ArgumentScannerError,
  FlagNotFoundError,
  formatMessageForArgumentScannerError,
} from '@stricli/core';

/**
 * Return what is wrong with a command line, and the next step.
 *
 * @param command first word of the command line
 */
export function usageErrorText(error: unknown, command: string): string {
  const help = `See "mps ${command} --help".`;
  if (!(error instanceof ArgumentScannerError))
    return `${error instanceof Error ? error.message : String(error)}\n${help}`;
  const text = formatMessageForArgumentScannerError(error, { ArgumentParseError: parseErrorText });
  const isProgramFlag = error instanceof FlagNotFoundError && runsPrograms.includes(command);
  return [text, ...(isProgramFlag ? [programFlagStep(command, error.input)] : []), help].join('\n');
}

/** Commands that take the command of a program after `--`. */
const runsPrograms: readonly string[] = ['run', 'rerun', 'sweep', 'schedule'];

const programFlagStep = (command: string, flag: string): string =>
  `Flags of your program stand behind its command, after --: mps ${command} -- python train.py --${flag} …`;

/** Name a flag as it is typed. Placeholders of arguments have capital letters. */
function parseErrorText({
  externalFlagNameOrPlaceholder: name,
  input,
  exception,
}: ArgumentParseError): string {
  const typed = /^[a-z]/.test(name)
    ? `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    : name;
  return `${typed} "${input}": ${exception instanceof Error ? exception.message : String(exception)}`;
}
