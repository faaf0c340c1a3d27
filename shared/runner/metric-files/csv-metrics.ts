import { isMetricName } from '../printed-metrics/metric-words.ts';

/** A metric at a step. */
export interface FileMetric {
  name: string;
  value: number;
  step: number | null;
}

/** Columns that count steps, the finest first. */
export const stepColumns = ['step', 'global_step', 'iteration', 'iter', 'epoch', 'round'];

/** Columns that are no metrics. */
export const noMetrics =
  /^(?:epoch|step|global_step|iter|iteration|round|time|wall_?time|timestamp|date|elapsed|duration|seed|id|index|)$/i;

const maxColumns = 1_000;

/**
 * Reads the rows of a table of metrics line by line: Lightning's `metrics.csv`, Keras's and fastai's CSVLogger,
 * Ultralytics' `results.csv`, DVCLive's `*.tsv`. A table without a column of steps and one of a metric has none.
 */
export class CsvMetrics {
  readonly #path: string;
  #separator = ',';
  #names: readonly (string | undefined)[] | undefined;
  #stepColumn = -1;
  #isOther = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Whether the file is no table of metrics. */
  get isOther(): boolean {
    return this.#isOther;
  }

  /** Return the metrics of a complete line. */
  read(line: string): FileMetric[] {
    if (this.#isOther || line.trim() === '') return [];
    if (this.#names === undefined) {
      this.#readHeader(line);
      return [];
    }
    const cells = cellsOf(line, this.#separator);
    // A row that was cut or is another table's has fewer or more cells.
    if (cells.length !== this.#names.length) return [];
    const step = this.#numberOf(cells[this.#stepColumn]);
    if (step === undefined || !Number.isFinite(step)) return [];
    return this.#names.flatMap((name, column) => {
      const value = name === undefined ? undefined : this.#numberOf(cells[column]);
      return name === undefined || value === undefined ? [] : [{ name, value, step }];
    });
  }

  /** Locales with decimal commas separate cells otherwise. */
  #numberOf(cell = ''): number | undefined {
    return numberOf(
      this.#separator !== ',' && /^[-+]?\d+,\d+(?:e[-+]?\d+)?$/i.test(cell) ? cell.replace(',', '.') : cell,
    );
  }

  #readHeader(line: string): void {
    this.#separator = [',', ';', '\t'].find((one) => line.includes(one)) ?? ',';
    const header = cellsOf(line.replace(/^\ufeff/, ''), this.#separator);
    const lower = header.map((name) => name.toLowerCase());
    const step = stepColumns.find((name) => lower.includes(name));
    this.#stepColumn = step === undefined ? -1 : lower.indexOf(step);
    const own = liveName.exec(this.#path)?.[1];
    const names = header.map((name, column) =>
      column === this.#stepColumn || noMetrics.test(name) ? undefined : (own ?? name),
    );
    const isTable = names.some((name) => name !== undefined && (own !== undefined || isMetricName(name)));
    if (this.#stepColumn < 0 || !isTable || header.length > maxColumns) this.#isOther = true;
    else this.#names = names;
  }
}

/** DVCLive names a metric by the path of its file. */
const liveName = /(?:^|\/)plots\/metrics\/(.+)\.tsv$/;

/** Split a line at a separator. Cells in double quotes may contain it. */
function cellsOf(line: string, separator: string): string[] {
  if (!line.includes('"')) return line.split(separator).map((cell) => cell.trim());
  const cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (const one of line) {
    if (one === '"') isQuoted = !isQuoted;
    else if (one === separator && !isQuoted) {
      cells.push(cell.trim());
      cell = '';
    } else cell += one;
  }
  return [...cells, cell.trim()];
}

/** Return the number of a cell; undefined for text and blank cells. */
function numberOf(cell: string): number | undefined {
  if (/^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?$/.test(cell)) return Number(cell);
  if (/^nan$/i.test(cell)) return Number.NaN;
  const [, sign] = /^([-+]?)inf(?:inity)?$/i.exec(cell) ?? [];
  return sign === undefined ? undefined : sign === '-' ? -Infinity : Infinity;
}
