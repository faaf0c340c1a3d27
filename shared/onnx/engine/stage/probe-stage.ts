import { runSample } from '../../measure/session/run-sample.ts';
import { SessionPool } from '../../measure/session/session-pool.ts';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { FedInput, TaskOf } from '../../measure/session/stage-task.ts';
import { syntheticFeeds } from '../../measure/session/synthetic.ts';
import { syntheticInputShapes } from '../../measure/verify/synthetic-inputs.ts';
import { ModelError } from '../../model/model-error.ts';
import type { StageReporter } from '../process/stage-reporter.ts';

/** Milliseconds after which no further inputs are tried. */
const longestMs = 20_000;

/** Run a model on one set of synthetic inputs after the other, until a run succeeds. */
export async function probeStage(
  { model, inputs, open, seed }: TaskOf<'probe'>,
  { progress }: Pick<StageReporter, 'progress'>,
  sessions = new SessionPool(),
): Promise<StageAnswer<'probe'>> {
  const tried = syntheticInputShapes(inputs, open);
  const started = performance.now();
  return await sessions.use(model, 'model', async (session) => {
    let why = '';
    for (const [at, shaped] of tried.entries()) {
      const fault = await faultOf(shaped);
      if (fault === undefined) return { inputs: shaped, why: null };
      why ||= fault;
      progress((at + 1) / tried.length);
      if (performance.now() - started > longestMs) break;
    }
    return { inputs: null, why };

    async function faultOf(shaped: FedInput[]): Promise<string | undefined> {
      try {
        const sample = { feeds: syntheticFeeds(shaped, seed), labels: undefined };
        await runSample(
          session,
          { inputs: shaped, set: null, source: 'synthetic', samples: 1, seed },
          sample,
        );
        return undefined;
      } catch (error) {
        if (error instanceof ModelError) return error.message;
        throw error;
      }
    }
  });
}
