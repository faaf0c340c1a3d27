import { applyPatch } from 'diff';
import { describe, expect, test } from 'vitest';
import { diffTexts } from '../../../../functions/experiments/compare/diff-texts.ts';
import { unifiedDiff } from '../../../../functions/experiments/compare/unified-diff.ts';
import { runStoppable } from '../../../../shared/core/stop-signal.ts';

const lines = (count: number, value: (line: number) => string) =>
  Array.from({ length: count }, (_, line) => `${value(line)}\n`).join('');
const texts = (config: string, dependencies = 'torch\n') => ({
  config_id: 'train.yaml',
  config,
  dependencies,
  lock: undefined,
});
const former = lines(2000, (line) => `former ${line}`);
const latter = lines(2000, (line) => `latter ${line}`);

describe('the diffs of a comparison', () => {
  test('show single changes of long texts', async () => {
    const [diffs] = await diffTexts(texts(former), [texts(former.replace('former 7\n', 'changed\n'))]);

    expect(diffs?.config).toContain('\n former 6\n-former 7\n+changed\n former 8\n');
    expect(diffs).toMatchObject({ dependencies: null, lock: null, omitted: false });
  });

  test('share their steps, so that one with too many is not made whole and says it', async () => {
    const small = lines(100, (line) => `x ${line % 2}`);
    const others = [texts(latter), texts(small.replace('x 1', 'y 1')), texts(latter, 'numpy\n')];

    const diffs = await diffTexts(texts(former), others);

    const tooMany = 'every line, because there are too many changes';
    expect(diffs.map(({ config }) => config?.includes(tooMany))).toEqual([true, false, true]);
    expect(diffs[2]?.dependencies).toContain('\n-torch\n+numpy\n');
    expect(applyPatch(former, diffs[0]?.config ?? '')).toBe(latter);
  });

  test('end with their request', async () => {
    const stop = new AbortController();
    stop.abort();

    await expect(
      runStoppable(stop.signal, () => diffTexts(texts(former), [texts(latter)])),
    ).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

describe('a diff', () => {
  test('takes no more than its steps, for short lines, long ones and many', () => {
    const pairs = [
      [former, latter],
      [lines(500, (line) => `${'x'.repeat(500)}${line}`), lines(500, (line) => `${'x'.repeat(500)}${-line}`)],
      ['\n'.repeat(200_000), `${'\n'.repeat(200_000)}x`],
    ] as const;
    for (const [before, after] of pairs) {
      const budget = { steps: 50_000 };

      const diff = unifiedDiff('x', before, after, budget);

      expect(budget.steps).toBeLessThan(0);
      expect(applyPatch(before, diff ?? '')).toBe(after);
    }
  });

  test('without steps holds for texts that are empty or do not end their line', () => {
    for (const before of ['', 'a', 'a\n', 'a\n\n', '\n'])
      for (const after of ['', 'b', 'b\nc', 'b\n'])
        if (before !== after)
          expect(applyPatch(before, unifiedDiff('x', before, after, { steps: 0 }) ?? '')).toBe(after);
  });
});
