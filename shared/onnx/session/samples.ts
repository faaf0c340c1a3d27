import type { DataUsed } from '../receipt/receipt.ts';
import type { Feed } from '../stage/stage-task.ts';
import { type Sample, setSamples } from './set-samples.ts';
import { syntheticFeeds } from './synthetic.ts';

/** The samples that a session is fed, from a set or made up. */
export async function* samplesOf(feed: Feed): AsyncGenerator<Sample, void, undefined> {
  if (feed.set !== null) {
    yield* setSamples(feed.set, feed.inputs, feed.samples);
    return;
  }
  for (let index = 0; index < feed.samples; index += 1) {
    // Samples of neighbouring seeds must not be alike.
    const seed = (feed.seed + Math.imul(index, 0x9e3779b1)) >>> 0;
    yield { feeds: syntheticFeeds(feed.inputs, seed), labels: undefined };
  }
}

/** What a receipt says of the samples that were fed. */
export function dataUsed(source: DataUsed['source'], samples: number, first: Sample | undefined): DataUsed {
  const shapes = [...(first?.feeds ?? [])].map(([name, { dims }]): [string, number[]] => [name, [...dims]]);
  return { source, samples, shapes: Object.fromEntries(shapes) };
}
