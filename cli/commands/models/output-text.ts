import { elementCount } from '../../../shared/serving/protocol/datatypes.ts';
import type { Output } from './served-model.ts';

const maxRows = 10;
const maxColumns = 12;

/** Return the first rows of an output for the terminal. */
export function outputText({ name, datatype, shape, data }: Output): string {
  const columns = shape.length < 2 ? data.length : elementCount(shape.slice(1));
  const rows = columns === 0 ? 0 : Math.ceil(data.length / columns);
  const lines = Array.from(
    { length: Math.min(rows, maxRows) },
    (_, row) => `  ${rowText(data.slice(row * columns, (row + 1) * columns))}`,
  );
  const head = `${name}  ${datatype} [${shape.join(', ')}]`;
  return [head, ...lines, ...(rows > maxRows ? ['  …'] : [])].join('\n');
}

/** Return the first values of a row. */
export function rowText(row: readonly unknown[]): string {
  const values = row
    .slice(0, maxColumns)
    .map((value) => (typeof value === 'number' ? Number(value.toPrecision(6)) : value));
  return `${values.join('  ')}${row.length > maxColumns ? '  …' : ''}`;
}
