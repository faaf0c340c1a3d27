import { isMetricName } from './metric-words.ts';
import type { FoundLine } from './printed-metrics.ts';
import { printedNumber } from './printed-number.ts';

interface Columns {
  /** Index of the column of the step. */
  step: number;
  /** Names by column; null for one that is no metric. */
  names: readonly (string | null)[];
}

/**
 * Recognizes the tables of spaCy (`E    #    LOSS TOK2VEC  TAG_ACC  SCORE`), fastai (`epoch  train_loss  valid_loss
 * time`) and DEAP (`gen  nevals  avg  max`). Only their headings open a table, and the first line that does not fit ends it.
 */
export class MetricTable {
  #columns: Columns | undefined;

  get isOpen(): boolean {
    return this.#columns !== undefined;
  }

  /** Return undefined for a line that is none of a table. A heading has no values. */
  read(text: string): FoundLine | undefined {
    const columns = headingOf(text);
    if (columns !== undefined) {
      this.#columns = columns;
      return { step: null, values: [] };
    }
    if (this.#columns === undefined) return undefined;
    if (/^[-\s]+$/.test(text) && text.includes('---')) return { step: null, values: [] };
    const row = rowOf(text, this.#columns);
    if (row === undefined) this.#columns = undefined;
    return row;
  }
}

function headingOf(text: string): Columns | undefined {
  if (/^E {2,8}# {2,10}\S/.test(text)) {
    const cells = text.trim().split(/\s{2,}/);
    const names = cells.map((cell, at) => (at < 2 ? null : cell.toLowerCase().replaceAll(' ', '_')));
    return cells.at(-1) === 'SCORE' ? { step: 1, names } : undefined;
  }
  if (/^gen *\tnevals *\t\S/.test(text)) {
    const cells = text.trim().split(/\s+/);
    return { step: 0, names: cells.map((cell, at) => (at < 2 ? null : cell)) };
  }
  if (!/^epoch {2,}train_loss {2,}/.test(text)) return undefined;
  const cells = text.trim().split(/\s{2,}/);
  const names = cells.map((cell) =>
    isMetricName(cell) || (cell !== 'epoch' && cell !== 'time') ? cell : null,
  );
  return cells.at(-1) === 'time' ? { step: 0, names } : undefined;
}

function rowOf(text: string, { step, names }: Columns): FoundLine | undefined {
  const cells = text.trim().split(/\s+/);
  const at = Number(cells[step]);
  if (cells.length !== names.length || !/^\d{1,9}$/.test(cells[step] ?? '')) return undefined;
  const values = names.flatMap((name, index): [string, number][] => {
    const value = name === null ? undefined : printedNumber(cells[index] ?? '');
    return name === null || value === undefined ? [] : [[name, value]];
  });
  return { step: at, values };
}
