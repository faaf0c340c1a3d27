import { bytesText } from '../../shared/core/text/bytes-text.ts';
import { CliError } from '../cli-error.ts';
import { ask } from '../login/ask.ts';
import type { Printer } from '../output/printer.ts';
import type { SourceFiles } from './source/source-file.ts';

/** Ask before a large upload. @throws CliError if the user refuses, or cannot be asked */
export async function agreeToSize({ files }: SourceFiles, printer: Printer): Promise<void> {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  if (total <= askAboveBytes) return;
  printer.say(`This folder has ${bytesText(total)}. The largest files:`);
  for (const { path, size } of files.toSorted((a, b) => b.size - a.size).slice(0, 10))
    printer.say(`  ${bytesText(size).padStart(9)}  ${path}`);
  const advice = 'List in .mpsignore the files that the training does not need.';
  if (process.stdin.isTTY !== true) throw new CliError(`${advice} Or confirm with --yes.`);
  const answer = await ask('Upload all of it? [y/N] ');
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError(`Nothing was uploaded. ${advice}`);
}

const askAboveBytes = 100_000_000;
