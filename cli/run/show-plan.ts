import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shownCommand } from '../../shared/command/private-argument.ts';
import { bytesText } from '../../shared/core/text/bytes-text.ts';
import type { FolderPlan } from './plan-folder.ts';

/** Return what a training of a folder would send, install and run, a line for each. */
export async function showPlan(plan: FolderPlan): Promise<string[]> {
  const { name, known, sources, environment, config, command, dataset, sizes, rounded } = plan;
  const { files } = sources;
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const { dataset: _, timeout, capacity, ...size } = sizes;
  const asked = Object.entries(size).map(
    ([what, value]) => `${value} ${what === 'memory' ? 'MiB memory' : what}`,
  );
  const rows: [string, string | undefined][] = [
    ['project', `${known?.project_name ?? name}, ${known === undefined ? 'would be created' : 'found'}`],
    ['environment', `${environment.env_type} (${environment.reason})`],
    ...(await requirements(plan)).map((line): [string, string] => ['installs', line]),
    [
      'source',
      `${files.length} ${files.length === 1 ? 'file' : 'files'}, ${bytesText(bytes)} before they are packed`,
    ],
    ...largest(files).map(({ path, size }): [string, string] => ['', `${path}, ${bytesText(size)}`]),
    ['config', config.config_id],
    ['data set', dataset === undefined || dataset === '' ? undefined : dataset],
    ['size', asked.length === 0 ? undefined : asked.join(', ')],
    ['memory', rounded],
    ['capacity', capacity],
    ['timeout', timeout === undefined ? undefined : `${timeout} s`],
    ['command', shownCommand(command)],
  ];
  return rows.flatMap(([what, text]) => (text === undefined ? [] : [`${what.padEnd(12)}${text}`]));
}

const maxShown = 10;

const largest = <File extends { size: number }>(files: readonly File[]): File[] =>
  files.toSorted((a, b) => b.size - a.size).slice(0, maxShown);

/** What the environment declares, with the lines of the files that it names. */
async function requirements({ environment, root }: FolderPlan): Promise<string[]> {
  const declared = lines(environment.dependencies ?? '');
  const each = declared.map(async (line) => {
    const [, file] = /^-r\s+(\S+)$/.exec(line) ?? [];
    if (file === undefined) return [line];
    const { added } = environment;
    const text =
      added?.path === file ? added.content : await readFile(join(root, file), 'utf8').catch(() => '');
    return [line, ...lines(text).map((inner) => `  ${inner}`)];
  });
  return (await Promise.all(each)).flat();
}

const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
