import { posix } from 'node:path';
import type { ChosenEnvironment } from './chosen-environment.ts';

/**
 * Return the environment of a folder for a source that contains the folder: paths in its lines begin with the folder.
 *
 * @param sub the folder in the source, such as `app`; '' for the source itself
 * @example movedEnvironment({ dependencies: '-r ../base.txt\n-e .', … }, 'app') // '-r base.txt\n-e ./app'
 */
export function movedEnvironment(chosen: ChosenEnvironment, sub: string): ChosenEnvironment {
  if (sub === '' || chosen.env_type === 'docker') return chosen;
  const { added } = chosen;
  return {
    ...chosen,
    dependencies: chosen.dependencies
      .split('\n')
      .map((line) => movedLine(line, sub))
      .join('\n'),
    ...(added !== undefined && { added: { ...added, path: `${sub}/${added.path}` } }),
  };
}

/** `-r file`, `-c file` and their long forms: the option with what divides it from the path, and the path. */
const fileOption = /^(\s*(?:-r|-c|--requirement|--constraint)(?:\s+|=)?)(\S+)(.*)$/;

/** A folder or file of the source: `.`, `./x.whl`, `../lib[extra]`, also after `-e`. */
const localPath = /^(\s*(?:(?:-e|--editable)(?:\s+|=)?)?)(\.{1,2}(?:\/[^\s;[\]]*)?)(.*)$/;

function movedLine(line: string, sub: string): string {
  const file = fileOption.exec(line);
  if (file !== null) return `${file[1]}${posix.join(sub, file[2] ?? '')}${file[3]}`;
  const local = localPath.exec(line);
  if (local === null) return line;
  const path = posix.join(sub, local[2] ?? '').replace(/\/$/, '');
  const written = path === '.' || path.startsWith('..') ? path : `./${path}`;
  return `${local[1]}${written}${local[3]}`;
}
