import { stripVTControlCharacters } from 'node:util';
import { maskCredentials } from './operator-environment.ts';

const longest = 600;

/**
 * What an installer gave as the reason of its failure, in at most 600 characters and without credentials:
 * pip's `ERROR:` lines, what uv prints from its `×` or `error:` on, npm's `npm error` lines, else the last lines.
 */
export function installerMessage(tail: string): string {
  const lines = stripVTControlCharacters(tail)
    .split(/[\r\n]+/)
    .map((line) =>
      maskCredentials(line)
        .replaceAll(/\p{Cc}/gu, ' ')
        .trim(),
    )
    .filter((line) => line !== '');
  const chosen = pipErrors(lines) ?? uvErrors(lines) ?? npmErrors(lines) ?? lines.slice(-6);
  return shorten(chosen.map((line) => shorten(line, longest / 2)).join('\n'), longest);
}

function pipErrors(lines: readonly string[]): string[] | undefined {
  const errors = lines.filter((line) => line.startsWith('ERROR: '));
  return errors.length === 0 ? undefined : errors.map((line) => line.slice('ERROR: '.length));
}

function uvErrors(lines: readonly string[]): string[] | undefined {
  const at = lines.findIndex((line) => /^(?:×|x|error:)\s/.test(line));
  return at < 0 ? undefined : lines.slice(at).map((line) => line.replace(/^[×x╰├│─▶>\s-]+(?=\S)/, ''));
}

function npmErrors(lines: readonly string[]): string[] | undefined {
  const errors = lines
    .flatMap((line) => /^npm (?:error|ERR!)\s*(.*)$/.exec(line)?.[1] ?? [])
    .filter((line) => line !== '' && !/complete log of this run|-debug-\d+\.log$/.test(line));
  return errors.length === 0 ? undefined : errors;
}

function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
