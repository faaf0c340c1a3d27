import { dirname, isAbsolute } from 'node:path';
import type { StageTask } from '../../measure/session/stage-task.ts';

/** Fields of tasks that hold paths. What else looks like one may be the name of a node. */
const pathFields: ReadonlySet<string> = new Set([
  'model',
  'before',
  'after',
  'observed',
  'out',
  'work',
  'set',
]);

/** The folders that a stage works in, from its task. */
export function stageFolders(task: StageTask): string[] {
  const feed = 'feed' in task ? task.feed : {};
  const raced = task.kind === 'race' ? [task.file, task.base ?? task.file] : [];
  const values: [string, unknown][] = [
    ...Object.entries(task),
    ...Object.entries(feed),
    ...raced.flatMap(({ path, feed: { set } }) => Object.entries({ model: path, set })),
  ];
  return values
    .filter(([name]) => pathFields.has(name))
    .flatMap(([, value]) => value)
    .filter((value) => typeof value === 'string')
    .filter((value) => isAbsolute(value))
    .map((path) => dirname(path));
}
