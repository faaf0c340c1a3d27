import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { filesOpenForWriting } from '../../../../shared/process/files-open-for-writing.ts';
import { stepOf, type Way, writeCheckpoints } from '../../../support/checkpoint-writer.ts';
import { sampled } from '../../../support/samples.ts';
import { OutputBench } from './output-bench.ts';

/** A fortieth of the real time between two looks; the pauses of the writers are as much shorter. */
const lookMilliseconds = 250;
const paused = (seconds: number) => seconds / 40;

describe('checkpoints of a command that runs', () => {
  const bench = new OutputBench();

  /** Steps that are stored while they are written, of each file in their order, until each was stored so many times. */
  async function storedSteps(
    way: Way,
    seconds: number,
    times: number,
    { names = ['model.pt'], isVisible = true }: { names?: readonly string[]; isVisible?: boolean } = {},
  ): Promise<Map<string, (number | undefined)[]>> {
    const writer = await writeCheckpoints(bench.folder, way, paused(seconds));
    const writable = () => filesOpenForWriting({ marker: writer.marker }, undefined);
    const uploader = bench.uploader({ lookMilliseconds, ...(isVisible && { writable }) });
    uploader.start();
    const steps = new Map<string, (number | undefined)[]>(names.map((name) => [name, []]));
    const seen = new Set<string>();
    while ([...steps.values()].some(({ length }) => length < times)) {
      for (const artifact of await bench.list()) {
        if (seen.has(artifact.object)) continue;
        seen.add(artifact.object);
        const bytes = await bench.read(artifact);
        // It may have been replaced since it was listed.
        if (bytes.toString() !== 'nothing') steps.get(artifact.path)?.push(stepOf(bytes));
      }
      await sleep(20);
    }
    await writer.stop();
    await uploader.finish();
    return steps;
  }

  const intervals = [0.2, 1, 2, 5];

  const replaced = intervals.flatMap((seconds) => [true, false].map((isVisible) => ({ seconds, isVisible })));

  test.each(sampled(replaced, 3))(
    'are kept when replaced at one blow every $seconds s (writers visible: $isVisible)',
    async (given) => {
      const kept = (await storedSteps('replaced', given.seconds, 3, given)).get('model.pt') ?? [];
      expect(kept).not.toContain(undefined);
      expect(kept).toEqual([...kept].sort((one, other) => Number(one) - Number(other)));
    },
  );

  test('are kept when several files are replaced', async () => {
    const names = ['model.pt', 'optimizer.pt', 'latest'];
    const steps = await storedSteps('set', 1, 3, { names });
    for (const name of names) expect(steps.get(name), name).not.toContain(undefined);
  });

  test.each([5, 10])('are kept when rewritten in place every %s s', async (seconds) => {
    const steps = await storedSteps('rewritten', seconds, 2);
    expect(steps.get('model.pt')).not.toContain(undefined);
  });

  const halfWritten = [
    { way: 'several', names: ['model.pt', 'optimizer.pt'] },
    { way: 'slowly', names: ['model.pt'] },
    { way: 'anew', names: ['model.pt'] },
  ] as const;

  test.each(sampled(halfWritten, 3))(
    'are never kept half when written $way, however long a write pauses',
    async ({ way, names }) => {
      const steps = await storedSteps(way, 12, 2, { names });
      for (const name of names) expect(steps.get(name), name).not.toContain(undefined);
    },
  );
});
