import { isMetricName } from './metric-words.ts';
import { namedPairs } from './named-pairs.ts';
import type { FoundLine } from './printed-metrics.ts';
import { printedNumber } from './printed-number.ts';

/** `Epoch 0: 100%|██| 20/20 [00:00<00:00, 97.1it/s, acc=0.95, loss=0.05]` of tqdm and Lightning. */
const tqdm =
  /^(.{0,80}?)\s{0,3}(\d{1,3})%\|[^|]{0,200}\|\s{1,3}\d[\d.]*[kMG]?\/\d[\d.]*[kMG]? \[(?:[^\]]*?it, ?([^\]]*)|\S{1,20}<[^,\]]{1,20}, ?[^,\]]{1,20}(?:, ([^\]]*))?)\]$/;

/**
 * `63/63 ━━━━ 1s 3ms/step - accuracy: 0.51 - loss: 0.70` of Keras, whose older ones print `[=====]` and whose short form
 * has no bar; `step 938/938 - loss: 0.05 - acc: 0.9 - 5ms/step` of PaddlePaddle.
 */
const counted = /^\s{0,3}(?:step )?(\d{1,9})\/(\d{1,9}) (?=[━╸─[-])/;

/** What a bar shows beside metrics: itself, and what a step takes. */
const noMetric =
  /^(?:(?:[━╸─]{1,60}|\[[=>.]{1,60}\])? ?(?:\d{1,6}(?:s|ms|us|:\d\d))? ?(?:[\d.]{1,9}(?:s|ms|us|µs)\/(?:step|sample|epoch))?|)$/;

/**
 * Recognizes progress bars that show metrics: that of tqdm when it is full, those of Keras and PaddlePaddle at the end of an
 * epoch. What Keras's evaluate and PaddlePaddle's validation print has the names of training, but another length or no
 * values of validation, so it is `eval_`.
 */
export class ProgressBars {
  #fitted: { total: string; hasValidation: boolean } | undefined;

  /** Note that an epoch begins. */
  beginEpoch(): void {
    this.#fitted = undefined;
  }

  read(text: string, epoch: number | null): FoundLine | undefined {
    if (text.includes('%|')) return tqdmLine(text);
    const [head, at, total] = counted.exec(text) ?? [];
    if (head === undefined || total === undefined || at !== total) return undefined;
    const cells = text.slice(head.length).replace(/^- /, '').trim().split(' - ');
    const values = cells.flatMap((cell) => cellValue(cell, ': '));
    if (values.length === 0 || cells.some((cell) => !cell.includes(': ') && !noMetric.test(cell)))
      return undefined;
    const hasValidation = values.some(([name]) => name.startsWith('val_'));
    const fitted = this.#fitted;
    const isOther =
      fitted !== undefined && (fitted.total !== total || (fitted.hasValidation && !hasValidation));
    if (!isOther && epoch !== null) this.#fitted = { total, hasValidation };
    return { step: epoch, values: isOther ? values.map(([name, value]) => [`eval_${name}`, value]) : values };
  }
}

function tqdmLine(text: string): FoundLine | undefined {
  const bar = tqdm.exec(text);
  if (bar === null) return undefined;
  const [, title = '', percent] = bar;
  const isFull = percent === '100';
  const shown = bar[3] ?? bar[4];
  // Some programs write the values into the title.
  const values =
    shown === undefined
      ? isFull
        ? namedPairs(title.replace(/:$/, ''))
        : []
      : shown.split(', ').flatMap((cell) => cellValue(cell, '='));
  if (values.length === 0) return undefined;
  const [, digits] = /epoch[\s:#[]{0,4}(\d{1,7})/i.exec(title) ?? [];
  const at = digits === undefined ? null : Number(digits);
  // A bar that is redrawn within an epoch shows the same metrics several times.
  return { step: at, values, isWithin: !isFull, ...(at !== null && { epoch: at }) };
}

function cellValue(cell: string, separator: string): [string, number][] {
  const at = cell.indexOf(separator);
  const name = cell.slice(0, at).trim();
  if (at < 1 || !isMetricName(name)) return [];
  const value = printedNumber(cell.slice(at + separator.length).trim());
  return value === undefined ? [] : [[name.replaceAll(' ', '_'), value]];
}
