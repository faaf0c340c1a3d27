/**
 * Sparse named values of rows. Each name has a column with only the rows that have it. So a name in one row costs
 * one entry.
 */
export class NamedValues<Value> {
  /** Row indexes of all columns, one column after the other. */
  readonly #rows: Uint16Array;
  readonly #columns: ReadonlyMap<string, { from: number; to: number }>;
  readonly #valueAt: (index: number) => Value;

  /** @param ends end index of each name's column, in the order of the names */
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
    // In a complete column, each row is at its own index.
    if (this.#rows[from + row] === row && from + row < to) return from + row;
    let [low, high] = [from, to];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#rows[middle] ?? 0) < row) low = middle + 1;
      else high = middle;
    }
    return low < to && this.#rows[low] === row ? low : -1;
  }

  /** Return the index of a row's value among all values. Return -1 if the row has none. */
  indexOf(row: number, name: string): number {
    const column = this.#columns.get(name);
    return column === undefined ? -1 : this.#indexOf(row, column);
  }

  get(row: number, name: string): Value | undefined {
    const index = this.indexOf(row, name);
    return index < 0 ? undefined : this.#valueAt(index);
  }

  /** Return all values of a row, by name. */
  of(row: number): Map<string, Value> {
    const found = new Map<string, Value>();
    for (const [name, column] of this.#columns) {
      const index = this.#indexOf(row, column);
      if (index >= 0) found.set(name, this.#valueAt(index));
    }
    return found;
  }
}

/** Flat form of named values that {@link NamedValues} reads. */
export interface Flattened<Value> {
  names: string[];
  ends: number[];
  rows: number[];
  values: Value[];
}

/** Convert named values to the flat form. @param all the named values of each row */
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
    for (const row of rows) flat.rows.push(row);
    for (const value of values) flat.values.push(value);
    flat.ends.push(flat.rows.length);
  }
  return flat;
}
