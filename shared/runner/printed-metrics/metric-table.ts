import { isMetricName } from './metric-words.ts';
import type { FoundLine } from './printed-metrics.ts';
import { printedNumber } from './printed-number.ts';

interface Columns {
  /** Index of the column of the step. */
  step: number;
  /** Names by column; null for one that is no metric. */
  names: readonly (string | null)[];
  separator: RegExp;
}

/**
 * Recognizes tables of metrics with a row for each step: those of spaCy (`E    #    LOSS TOK2VEC  TAG_ACC  SCORE`), fastai,
 * skorch, scikit-learn, Ultralytics and DEAP (`gen  nevals  avg  max`), and others whose first column counts steps. Only a
 * heading above its first row opens a table, and the first line that does not fit ends it.
 */
export class MetricTable {
  #columns: Columns | undefined;

  get isOpen(): boolean {
    return this.#columns !== undefined;
  }

  /**
   * Return undefined for a line that is none of a table.
   * @param before the line before, and `earlier` the one before that: the heading of a table whose first row this is
   */
  read(text: string, before: string, earlier: string): FoundLine | undefined {
    if (!/^[\s|]{0,12}\d/.test(text)) {
      this.#columns = undefined;
      return undefined;
    }
    this.#columns ??= headingOf(isRule(before) ? earlier : before);
    if (this.#columns === undefined) return undefined;
    const row = rowOf(text, this.#columns);
    if (row === undefined) this.#columns = undefined;
    return row;
  }
}

const isRule = (text: string): boolean => /^[-+=|:\s]{5,}$/.test(text) && text.includes('--');

/** Columns that count steps, the finest first. */
const steps = /^(?:epoch|ep|iter|iteration|step|round|gen)$/i;

/** Columns that are no metrics. */
const others = /^(?:time|dur|cp|epoch|gpu_mem|instances|size|remaining_time|nevals)$/i;

function headingOf(text: string): Columns | undefined {
  if (text.length > 400) return undefined;
  const columns = (cells: readonly string[], step: number, separator: RegExp): Columns => ({
    step,
    names: cells.map((cell, at) => (at === step || others.test(cell) ? null : cell)),
    separator,
  });
  if (/^E {2,8}# {2,10}\S/.test(text)) {
    const cells = text.trim().split(/\s{2,}/);
    const names = cells.map((cell) => cell.toLowerCase().replaceAll(' ', '_'));
    if (cells.at(-1) !== 'SCORE') return undefined;
    return { ...columns(names, 1, /\s+/), names: names.map((name, at) => (at < 2 ? null : name)) };
  }
  const isPiped = text.includes('|');
  const cells = cellsOf(text, isPiped ? /\s*\|\s*/ : /\s{2,}|\t/).map((cell) => cell.replaceAll(' ', '_'));
  const isGeneration = /^gen *\tnevals *\t\S/.test(text);
  if (cells.length < 2 || !steps.test(cells[0] ?? '')) return undefined;
  if (!isGeneration && !cells.some((cell) => isMetricName(cell))) return undefined;
  return columns(
    cells.map((cell) => (/^[A-Z][a-z]*(?:_[A-Z][a-z]*)*$/.test(cell) ? cell.toLowerCase() : cell)),
    0,
    isPiped ? /\s*\|\s*/ : /\s+/,
  );
}

/** Split a row, without the bars around it. */
const cellsOf = (text: string, separator: RegExp): string[] =>
  text
    .trim()
    .replaceAll(/^\|\s*|\s*\|$/g, '')
    .split(separator)
    .map((cell) => cell.trim());

function rowOf(text: string, { step, names, separator }: Columns): FoundLine | undefined {
  // Ultralytics draws the bar of the epoch behind its row.
  const isOfBar = names.at(-1) === null && /\d: .{0,4}\d{1,3}%/.test(text);
  const row = isOfBar ? text.replace(/: .{0,4}\d{1,3}%.*$/, '') : text;
  const cells = cellsOf(row, separator);
  // skorch leaves the mark of a checkpoint out.
  const columns = cells.length === names.length - 1 ? withoutMark(names) : names;
  const [, digits] = /^(\d{1,9})(?:\/\d{1,9})?$/.exec(cells[step] ?? '') ?? [];
  if (cells.length !== columns.length || digits === undefined) return undefined;
  const values = columns.flatMap((name, index): [string, number][] => {
    const value = name === null ? undefined : printedNumber(cells[index] ?? '');
    return name === null || value === undefined ? [] : [[name, value]];
  });
  return { step: Number(digits), values, ...(isOfBar && { epoch: Number(digits) }) };
}

/** The names without the last column but one, if it is one of marks. */
const withoutMark = (names: readonly (string | null)[]): readonly (string | null)[] =>
  names.at(-2) === null ? names.toSpliced(-2, 1) : names;
