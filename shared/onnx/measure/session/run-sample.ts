import { ModelError } from '../../model/model-error.ts';
import type { Session } from './session.ts';
import type { Sample } from './set-samples.ts';
import type { Feed } from './stage-task.ts';

/**
 * Run one sample, for all or the named outputs. The error for a synthetic sample says that the model may need a
 * data set.
 */
export async function runSample(
  session: Session,
  { source }: Feed,
  { feeds }: Sample,
  outputs?: readonly string[],
): ReturnType<Session['run']> {
  try {
    return await session.run(feeds, outputs);
  } catch (fault) {
    if (!(fault instanceof ModelError) || source !== 'synthetic') throw fault;
    const shapes = [...feeds].map(([name, { dims }]) => `${JSON.stringify(name)} [${dims.join(', ')}]`);
    throw new ModelError(
      `${fault.message} The inputs were generated (${shapes.join(', ')}); give a calibration set, or the shapes of the inputs.`,
    );
  }
}
