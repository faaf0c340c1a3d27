import { expect, test } from 'vitest';
import { bestText } from '../../../cli/experiments/metric-text.ts';
import { Printer } from '../../../cli/output/printer.ts';
import { progressText, trialText } from '../../../cli/sweeps/trial-text.ts';

const summary = { min: 0.00094, max: 1, step: 120, time: '2026-11-29T09:00:00.000Z', count: 120 };
const best = { criterion: 'val_loss', metric: 'val_loss', value: 0.00094, step: 21 };
const ranked = (last: number | 'NaN', stopped_at: string | null) =>
  ({ best, metrics: { val_loss: { ...summary, last } }, stopped_at }) as unknown as Parameters<
    typeof bestText
  >[0];

test('a best value has its step, and the last value if that is another', () => {
  const ended = '2026-11-29T09:00:00.000Z';

  expect(bestText(ranked(0.0189, ended))).toBe('val_loss 0.00094 at step 21, 0.0189 at the end');
  expect(bestText(ranked(0.0189, null))).toBe('val_loss 0.00094 at step 21, 0.0189 now');
  expect(bestText(ranked('NaN', ended))).toBe('val_loss 0.00094 at step 21, NaN at the end');
  expect(bestText(ranked(0.00094, ended))).toBe('val_loss 0.00094 at step 21');
});

test('so have a trial and the best one of a sweep, unless their values are means of repeats', () => {
  const row = { step: 21, last: 0.0189 };
  const trial = { trial: 3, params: {}, value: 0.00094, deviation: null, outcome: 'complete', reason: null };
  const folded = { ...trial, seconds: 1, cost: null };
  const text = (rows: readonly object[]) =>
    trialText({ ...folded, rows } as unknown as Parameters<typeof trialText>[0], 'val_loss');
  const counts = { complete: 4, stopped_early: 0, failed: 0, cancelled: 0, running: 0, left: 0 };
  const sweep = { status: 'COMPLETED', counts, trials: 4, repeats: 1, metric: 'val_loss', spent: null };
  const progress = progressText({ ...sweep, best: { ...trial, ...row } } as unknown as Parameters<
    typeof progressText
  >[0]);

  expect(text([row])).toContain('val_loss 0.00094 at step 21, 0.0189 at the end');
  expect(text([row, row])).not.toContain('at step');
  expect(progress).toContain('best #3 val_loss 0.00094 at step 21, 0.0189 at the end');
});

test('a table that is too wide for the terminal takes its narrow form', () => {
  const lines: string[] = [];
  const write = (text: string) => lines.push(text);
  const shown = (columns: number) => {
    lines.length = 0;
    const printer = new Printer({ stdout: { write, isTTY: true, columns }, stderr: { write }, env: {} });
    printer.table(['ID', 'CREATED', 'BEST'], [['01m81vnz70vmqzhdpxra5dgmp0', '2026-11-29', 'loss 0.5']], {
      headings: ['ID', 'BEST', 'CREATED'],
      rows: [['5dgmp0', 'loss 0.5', '2026-11-29']],
    });
    return lines.join('');
  };

  expect(shown(80)).toContain('01m81vnz70vmqzhdpxra5dgmp0  2026-11-29  loss 0.5\n');
  expect(shown(20)).toBe('ID      BEST      CR\n5dgmp0  loss 0.5  20\n');
});
