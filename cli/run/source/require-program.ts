import { realpath } from 'node:fs/promises';
import { dirname, join, posix, relative } from 'node:path';
import { parseCommand } from '../../../shared/command/parse-command.ts';
import { quoteCommand } from '../../../shared/command/quote-command.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { leftOutText } from './inspect-files.ts';
import type { SourceFiles } from './source-file.ts';
import { isWithin } from './source-root.ts';

/**
 * Refuse a command whose program is not sent: the job could only fail after its environment was built.
 *
 * @param place the folder of the command, its path in the source, and the top of its git repository
 * @throws CliError that says how to send the program
 */
export async function requireProgram(
  command: string,
  leftOut: SourceFiles['leftOut'],
  place: { folder: string; sub: string; repository: string },
): Promise<void> {
  const words = parseCommand(command);
  const programs = programPaths(words).map((path) => posix.join(place.sub, path));
  const found = leftOut.find(({ path }) => {
    const plain = path.replace(/\/$/, '');
    return programs.some((program) => program === plain || program.startsWith(`${plain}/`));
  });
  if (found === undefined) return;
  const advice = await wayIn(found.target, words, place);
  throw new CliError(`The command runs ${leftOutText(found)}. ${advice}`, exitCodes.usage);
}

/** Return the paths at which a program of the command may lie: scripts, modules after `-m`, and an executable. */
function programPaths(words: readonly string[]): string[] {
  return words.flatMap((word, at) => {
    if (words[at - 1] === '-m') {
      const path = word.replaceAll('.', '/');
      return [path, `${path}.py`];
    }
    const isProgram = at === 0 ? word.includes('/') : /\.(?:py|sh|bash|[cm]?[jt]s|ipynb|R|jl|pl)$/.test(word);
    return isProgram && !word.startsWith('/') ? [posix.normalize(word)] : [];
  });
}

/** Return the command that sends a link's target, too, if one repository has both; else how to replace the link. */
async function wayIn(
  target: string | undefined,
  words: readonly string[],
  { folder, repository }: { folder: string; repository: string },
): Promise<string> {
  const here = await realpath(folder);
  const top = await realpath(repository);
  if (target === undefined || !isWithin(target, top)) return 'Put the file itself into the folder.';
  let root = here;
  while (root !== top && !isWithin(target, root)) root = dirname(root);
  return `To send both: ${quoteCommand(['mps', 'run', '--root', join('.', relative(here, root)), '--', ...words])}`;
}
