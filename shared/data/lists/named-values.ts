/**
 * Values of rows under names, of which each row has some: a column for each name, of the rows that have it. So
 * a name that one row has costs one entry.
 */
export class NamedValues<Value> {
  /** Row by row in each column, one column after the other. */
  readonly #rows: Uint16Array;
  readonly #columns: ReadonlyMap<string, { from: number; to: number }>;
  readonly #valueAt: (index: number) => Value;

  /** @param ends where the column of each name ends, in the order of the names */
  constructor(
    names: readonly string[],
    ends: ArrayLike<number>,
    rows: ArrayLike<number>,
    valueAt: (index: number) => Value,
  ) {
    this.#rows = Uint16Array.from(rows);
    this.#valueAt = valueAt;
    this.#columns = new Map(
      names.map((name, index) => [name, { from: ends[index - 1] ?? 0, to: ends[index] ?? 0 }]),
    );
  }

  #indexOf(row: number, { from, to }: { from: number; to: number }): number {
    // In a column that all rows have, each stands at its own place.
    if (this.#rows[from + row] === row && from + row < to) return from + row;
    let [low, high] = [from, to];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#rows[middle] ?? 0) < row) low = middle + 1;
      else high = middle;
    }
    return low < to && this.#rows[low] === row ? low : -1;
  }

  /** Where the value of a row stands among all values; -1 where it has none. */
  indexOf(row: number, name: string): number {
    const column = this.#columns.get(name);
    return column === undefined ? -1 : this.#indexOf(row, column);
  }

  get(row: number, name: string): Value | undefined {
    const index = this.indexOf(row, name);
    return index < 0 ? undefined : this.#valueAt(index);
  }

  /** All values of a row, by name. */
  of(row: number): Map<string, Value> {
    const found = new Map<string, Value>();
    for (const [name, column] of this.#columns) {
      const index = this.#indexOf(row, column);
      if (index >= 0) found.set(name, this.#valueAt(index));
    }
    return found;
  }
}

/** Named values of rows, one after the other as {@link NamedValues} reads them. */
export interface Flattened<Value> {
  names: string[];
  ends: number[];
  rows: number[];
  values: Value[];
}

/** @param all the named values of each row */
export function flatten<Value>(all: readonly ReadonlyMap<string, Value>[]): Flattened<Value> {
  const columns = new Map<string, { rows: number[]; values: Value[] }>();
  for (const [row, values] of all.entries()) {
    for (const [name, value] of values) {
      const column = columns.get(name) ?? { rows: [], values: [] };
      columns.set(name, column);
      column.rows.push(row);
      column.values.push(value);
    }
  }
  const flat: Flattened<Value> = { names: [], ends: [], rows: [], values: [] };
  for (const [name, { rows, values }] of columns) {
    flat.names.push(name);
    flat.rows.push(...rows);
    flat.values.push(...values);
    flat.ends.push(flat.rows.length);
  }
  return flat;
}
