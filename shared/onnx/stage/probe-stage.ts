import { ModelError } from '../model-error.ts';
import { runSample } from '../session/run-sample.ts';
import { SessionPool } from '../session/session-pool.ts';
import { syntheticFeeds } from '../session/synthetic.ts';
import type { StageAnswer } from '../stage-task/stage-answers.ts';
import type { FedInput, TaskOf } from '../stage-task/stage-task.ts';
import { triedShapes } from '../verify/tried-shapes.ts';
import type { StageReporter } from './stage-reporter.ts';

/** After so long no further sizes are tried. */
const longestMs = 20_000;

/** Runs a model on made-up inputs of one size after the other, until one runs. */
export async function probeStage(
  { model, inputs, open, seed }: TaskOf<'probe'>,
  { progress }: Pick<StageReporter, 'progress'>,
  sessions = new SessionPool(),
): Promise<StageAnswer<'probe'>> {
  const tried = triedShapes(inputs, open);
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
