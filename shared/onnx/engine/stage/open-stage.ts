import { runSample } from '../../measure/session/run-sample.ts';
import { samplesOf } from '../../measure/session/samples.ts';
import type { Session } from '../../measure/session/session.ts';
import { SessionPool } from '../../measure/session/session-pool.ts';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { Feed, TaskOf } from '../../measure/session/stage-task.ts';
import { ModelError } from '../../model/model-error.ts';

/** Return the error of a model on the first sample; undefined if it runs. */
async function faultOf(session: Session, feed: Feed): Promise<ModelError | undefined> {
  try {
    for await (const sample of samplesOf({ ...feed, samples: 1 })) await runSample(session, feed, sample);
    return undefined;
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
}

/**
 * Open a session of a model for later stages of this process. With a trial, also run it on one sample. A failure
 * of the original model on this sample proves nothing about the result.
 *
 * @throws ModelError if it does not open, or fails on a sample that the original model accepts
 */
export async function openStage(
  { model, of = 'model', trial }: TaskOf<'open'>,
  sessions = new SessionPool(),
): Promise<StageAnswer<'open'>> {
  const fault = await sessions.use(
    model,
    of,
    async (session) => trial && (await faultOf(session, trial.feed)),
  );
  if (trial === undefined || fault === undefined) return {};
  const own = await sessions.use(trial.before, 'model', (session) => faultOf(session, trial.feed));
  if (own === undefined)
    throw new ModelError(`The result does not run, and the model does. ${fault.message}`);
  return {};
}
