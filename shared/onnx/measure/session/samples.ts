import type { DataUsed } from '../../receipt/data-used.ts';
import { type Sample, setSamples } from './set-samples.ts';
import type { Feed } from './stage-task.ts';
import { syntheticFeeds } from './synthetic.ts';

/** Yield the samples of a feed, from a set or synthetic. */
export async function* samplesOf(feed: Feed): AsyncGenerator<Sample, void, undefined> {
  if (feed.set !== null) {
    yield* setSamples(feed.set, feed.inputs, feed.samples, feed.asked);
    return;
  }
  for (let index = 0; index < feed.samples; index += 1) {
    // Adjacent seeds must not produce similar samples.
    const seed = (feed.seed + Math.imul(index, 0x9e3779b1)) >>> 0;
    const isSilent = feed.silence === true && index > 0 && index === feed.samples - 1;
    yield { feeds: syntheticFeeds(feed.inputs, seed, isSilent), labels: undefined };
  }
}

/** Notes for the owner of a set on how it was read. */
export function setNotes(source: DataUsed['source'], first: Sample | undefined): string[] {
  if (first?.otherName === undefined) return [];
  const [input = ''] = first.feeds.keys();
  return [
    `The ${source} set has no array ${JSON.stringify(input)}, so its only array, ${JSON.stringify(first.otherName)}, was used for that input.`,
  ];
}

/** Describe the used samples for a receipt. */
export function dataUsed(source: DataUsed['source'], samples: number, first: Sample | undefined): DataUsed {
  const shapes = [...(first?.feeds ?? [])].map(([name, { dims }]): [string, number[]] => [name, [...dims]]);
  return { source, samples, shapes: Object.fromEntries(shapes) };
}
