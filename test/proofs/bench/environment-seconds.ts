import type { TrainingProject } from './training-project.ts';

// One machine stores no packs, so what is built is ready at once.
const readyLine = { hit: /^environment: cache hit/, miss: /^environment: built with/ };

/**
 * Trains a project and returns the seconds from its job's first line to the line that reports its environment as
 * ready; fetching the source is among them.
 * @throws Error when the cache did not do what was expected
 */
export async function secondsToEnvironment(
  project: TrainingProject,
  expected: 'hit' | 'miss',
): Promise<number> {
  const experiment = await project.succeeded(await project.train());
  if (experiment.environment_cache !== expected) {
    throw new Error(`expected a cache ${expected}, but it was a ${experiment.environment_cache}`);
  }
  const lines = await project.log(experiment);
  const ready = lines.find(({ message }) => readyLine[expected].test(message));
  const [first] = lines;
  if (ready === undefined || first === undefined) throw new Error('the log does not tell of the environment');
  return (Date.parse(ready.time) - Date.parse(first.time)) / 1000;
}
