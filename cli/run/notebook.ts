import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import * as z from 'zod/mini';
import { isPapermill } from '../../shared/command/papermill.ts';
import { parseCommand } from '../../shared/command/parse-command.ts';
import { quoteCommand } from '../../shared/command/quote-command.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { ChosenEnvironment } from './environment/chosen-environment.ts';

/**
 * Return the command that executes a notebook in place, so the executed one is kept as a changed file. It runs in the
 * folder of the notebook, as in Jupyter, and prints what the cells print.
 *
 * @param words the notebook, and further words for papermill, such as `-p lr 0.1`
 */
export function notebookCommand([notebook = '', ...words]: readonly string[]): string {
  const path = notebook.replace(/^\.\//, '');
  const folder = posix.dirname(path);
  return quoteCommand([
    ...['papermill', path, path],
    ...(folder === '.' ? [] : ['--cwd', folder]),
    // The kernel that a notebook names may exist only on its author's machine.
    ...['--kernel', 'python3', '--no-progress-bar', '--log-level', 'ERROR'],
    ...['--stdout-file', '-', '--stderr-file', '-'],
    ...words,
  ]);
}

export const isNotebook = (word: string | undefined): boolean => word?.endsWith('.ipynb') === true;

/** Return the only notebook of a folder, not of its sub-folders; undefined if there are several or none. */
export function onlyNotebook(files: ReadonlySet<string>): string | undefined {
  const notebooks = [...files].filter((path) => isNotebook(path) && !path.includes('/'));
  return notebooks.length === 1 ? notebooks[0] : undefined;
}

/**
 * Return the environment for a command: for one that executes a notebook it has papermill and Python's kernel.
 *
 * @throws CliError if the command executes a file that is no notebook of Python
 */
export async function notebookEnvironment(
  folder: string,
  environment: ChosenEnvironment,
  command: string,
): Promise<ChosenEnvironment> {
  if (!command.includes('papermill')) return environment;
  const words = parseCommand(command);
  if (!isPapermill(words) || environment.env_type === 'docker') return environment;
  const notebook = words.slice(1).find(isNotebook);
  if (notebook !== undefined) await checkNotebook(folder, notebook);
  // Packages of Node do not run a notebook of Python.
  const lines = environment.env_type === 'python' ? environment.dependencies.split('\n') : [];
  const further = await missingRunner(folder, environment);
  const dependencies = [...lines.filter((line) => line !== 'none'), ...further].join('\n');
  const reason = environment.env_type === 'python' ? `${environment.reason}, and papermill` : 'papermill';
  return { ...environment, env_type: 'python', dependencies, reason };
}

const runner = ['papermill', 'ipykernel'];

/**
 * Return the packages that execute a notebook and must be added. Where requirements have hashes, pip refuses others
 * without, so the file itself must list them.
 */
async function missingRunner(folder: string, { dependencies, added }: ChosenEnvironment): Promise<string[]> {
  const files = dependencies.split('\n').flatMap((line) => /^-r (.+)$/.exec(line)?.[1] ?? []);
  for (const file of files) {
    const text =
      file === added?.path ? added.content : await readFile(join(folder, file), 'utf8').catch(() => '');
    if (!/\s--hash[= ]/.test(text)) continue;
    const missing = runner.filter((name) => !new RegExp(`^${name}\\b`, 'im').test(text));
    if (missing.length > 0)
      throw new CliError(
        `${file}: its packages have hashes, and papermill, which executes the notebook, needs ${missing.join(' and ')} with hashes, too. Add them, for example by \`pip-compile --generate-hashes\`.`,
        exitCodes.usage,
      );
    return [];
  }
  return runner;
}

const Notebook = z.object({
  cells: z.array(z.unknown()),
  metadata: z.optional(
    z.object({
      kernelspec: z.optional(z.object({ language: z.optional(z.string()), name: z.optional(z.string()) })),
      language_info: z.optional(z.object({ name: z.optional(z.string()) })),
    }),
  ),
});

async function checkNotebook(folder: string, path: string): Promise<void> {
  const refused = (fault: string) => new CliError(`${path}: ${fault}`, exitCodes.usage);
  const content = await readFile(join(folder, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? refused('there is no such notebook.') : error;
  });
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    throw refused('is no notebook: it is not JSON.');
  }
  const parsed = Notebook.safeParse(value);
  if (!parsed.success) throw refused('is no notebook: it has no list of cells.');
  const { language_info, kernelspec } = parsed.data.metadata ?? {};
  const language = language_info?.name ?? kernelspec?.language;
  if (language !== undefined && language.toLowerCase() !== 'python')
    throw refused(`is a notebook of ${language}; notebooks of Python are executed.`);
}
