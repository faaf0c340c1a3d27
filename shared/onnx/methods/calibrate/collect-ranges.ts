import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { requireNumbers } from '../../measure/session/require-numbers.ts';
import { runSample } from '../../measure/session/run-sample.ts';
import { samplesOf } from '../../measure/session/samples.ts';
import { type FedTensor, type FedTexts, type OtherValue, Session } from '../../measure/session/session.ts';
import type { Feed } from '../../measure/session/stage-task.ts';
import type { Model } from '../../model/file/model.ts';
import { saveModel } from '../../model/file/save-model.ts';
import type { Fed } from './collect-statistics.ts';
import type { Collector } from './collectors/collector.ts';
import { exposeOutputs } from './expose-outputs.ts';

/**
 * Run a loaded model over samples and give the values of the targets to a collector. Graph optimizations are off,
 * because they would remove values. The targets become outputs of the model. The caller closes the model.
 *
 * @throws ModelError for a sample that the model does not accept, or that contains NaN
 */
export async function collectRanges(
  model: Model,
  targets: readonly string[],
  collector: Collector,
  { feed, folder, progress }: { feed: Feed; folder: string; progress(fraction: number): void },
): Promise<Fed> {
  const work = join(folder, 'observed-model');
  mkdirSync(work);
  const fed: Fed = { samples: 0, first: undefined };
  try {
    const outputs = exposeOutputs(
      model,
      targets.map((name) => ({ name })),
    );
    const [file = ''] = saveModel(model, work);
    const session = await Session.open(join(work, file), 'model', 'disabled');
    for await (const sample of samplesOf(feed)) {
      fed.first ??= sample;
      requireNumbers(sample, fed.samples);
      for (const name of targets) collect(collector, name, sample.feeds.get(name));
      // A session needs at least one output. If only inputs are observed, there is no output.
      const results = outputs.length === 0 ? [] : await runSample(session, feed, sample, outputs);
      for (const [name, value] of results) collect(collector, name, value);
      fed.samples += 1;
      progress(fed.samples / feed.samples);
    }
    await session.release();
    return fed;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function collect(
  collector: Collector,
  name: string,
  value: FedTensor | FedTexts | OtherValue | undefined,
): void {
  if (value?.type === 'float' && value.values instanceof Float32Array) collector.add(name, value.values);
}
