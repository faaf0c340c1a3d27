import { isMetricName } from './metric-words.ts';
import type { FoundLine } from './printed-metrics.ts';
import { printedNumber } from './printed-number.ts';

/** `Epoch 0: 100%|██| 20/20 [00:00<00:00, 97.1it/s, acc=0.95, loss=0.05]` of tqdm and Lightning. */
const tqdm =
  /^(.{0,80}?)\s{0,3}(\d{1,3})%\|[^|]{0,200}\|\s{1,3}\d[\d.]*[kMG]?\/\d[\d.]*[kMG]? \[[^\]]*?it, ?([^\]]*)\]$|^(.{0,80}?)\s{0,3}(\d{1,3})%\|[^|]{0,200}\|\s{1,3}\d[\d.]*[kMG]?\/\d[\d.]*[kMG]? \[\S{1,20}<[^,\]]{1,20}, ?[^,\]]{1,20}, ([^\]]*)\]$/;

/** `63/63 ━━━━ 1s 3ms/step - accuracy: 0.51 - loss: 0.70 - val_accuracy: 0.5` of Keras; older ones print `[=====]`. */
const keras =
  /^\s{0,3}(\d{1,9})\/(\d{1,9}) (?:[━╸─]{1,60}|\[[=>.]{1,60}\])[^-]{0,60}((?: - [\w ]{1,60}: \S{1,30})+)\s{0,3}$/;

/** Recognize a progress bar that shows metrics: that of tqdm when it is full, that of Keras at the end of an epoch. */
export function progressBar(text: string, epoch: number | null): FoundLine | undefined {
  if (text.includes('%|')) return tqdmLine(text);
  const bar = keras.exec(text);
  if (bar === null || bar[1] !== bar[2]) return undefined;
  const values = (bar[3] ?? '').split(' - ').flatMap((cell) => cellValue(cell, ': '));
  return values.length === 0 ? undefined : { step: epoch, values };
}

function tqdmLine(text: string): FoundLine | undefined {
  const bar = tqdm.exec(text);
  const shown = bar?.[3] ?? bar?.[6];
  if (shown === undefined) return undefined;
  const values = shown.split(', ').flatMap((cell) => cellValue(cell, '='));
  if (values.length === 0) return undefined;
  const title = bar?.[1] ?? bar?.[4] ?? '';
  const [, digits] = /epoch[\s:#[]{0,4}(\d{1,7})/i.exec(title) ?? [];
  const at = digits === undefined ? null : Number(digits);
  // A bar that is redrawn within an epoch shows the same metrics several times.
  const isWithin = (bar?.[2] ?? bar?.[5]) !== '100';
  return { step: at, values, isWithin, ...(at !== null && { epoch: at }) };
}

function cellValue(cell: string, separator: string): [string, number][] {
  const at = cell.indexOf(separator);
  const name = cell.slice(0, at).trim();
  if (at < 1 || !isMetricName(name)) return [];
  const value = printedNumber(cell.slice(at + separator.length).trim());
  return value === undefined ? [] : [[name.replaceAll(' ', '_'), value]];
}
