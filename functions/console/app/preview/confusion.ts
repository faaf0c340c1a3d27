import type { Cell, TableData } from './table-data.ts';

/** How often each class was taken for each other one. */
export interface Confusion {
  classes: readonly string[];
  /** Number of rows by truth and prediction, in the order of the classes. */
  counts: readonly (readonly number[])[];
  /** Number of rows, and of those whose prediction is the truth. */
  total: number;
  right: number;
  /** Return the rows of the table with a truth and a prediction. */
  rowsOf(truth: string, prediction: string): TableData['rows'];
}

const truthNames =
  /^(?:truth|true|ground_?truth|y_?true|targets?|labels?|actual|expected|true_?(?:label|class))$/;
const predictionNames =
  /^(?:pred|predicted|predictions?|y_?pred|guess|output|(?:pred|predicted|prediction)_?(?:label|class))$/;
/** More classes have no room. */
const maxClasses = 40;

const textOf = (cell: Cell | undefined): string => String(cell ?? '');

/** Return the confusion matrix of a table with a column of truth and one of prediction; undefined for other tables. */
export function confusionOf({ columns, rows }: TableData): Confusion | undefined {
  const find = (names: RegExp): number =>
    columns.findIndex((name) =>
      names.test(
        name
          .trim()
          .toLowerCase()
          .replaceAll(/[\s-]+/g, '_'),
      ),
    );
  const [truth, prediction] = [find(truthNames), find(predictionNames)];
  if (truth < 0 || prediction < 0 || rows.length === 0) return undefined;
  const names = new Set<string>();
  for (const row of rows) {
    names.add(textOf(row[truth])).add(textOf(row[prediction]));
    if (names.size > maxClasses) return undefined;
  }
  const classes = [...names].sort(new Intl.Collator('en', { numeric: true }).compare);
  const placeOf = new Map(classes.map((name, at) => [name, at]));
  const counts = classes.map(() => classes.map(() => 0));
  for (const row of rows) {
    const line = counts[placeOf.get(textOf(row[truth])) ?? 0];
    const at = placeOf.get(textOf(row[prediction])) ?? 0;
    if (line !== undefined) line[at] = (line[at] ?? 0) + 1;
  }
  return {
    classes,
    counts,
    total: rows.length,
    right: counts.reduce((sum, line, at) => sum + (line[at] ?? 0), 0),
    rowsOf: (actual, predicted) =>
      rows.filter((row) => textOf(row[truth]) === actual && textOf(row[prediction]) === predicted),
  };
}
