import { ModelError } from '../model-error.ts';
import { byteLengthOf, dataTypeName } from '../tensor/data-type.ts';
import { maxNameBytes } from './inspect-limits.ts';
import type { SummaryDraft } from './summary-draft.ts';
import { eachField, type Field, signed, type WireReader } from './wire-reader.ts';

/** A tensor without its values. */
export interface ScannedTensor {
  name: string;
  elements: number;
  bytes: number;
}

/** Fields of TensorProto. */
const tensor = { dims: 1, dataType: 2, name: 8, rawData: 9, externalData: 13, dataLocation: 14 };

const external = 1;

/** Read a TensorProto up to `end` without its values, and record its external data. */
export async function scanTensor(
  reader: WireReader,
  end: number,
  draft: SummaryDraft,
): Promise<ScannedTensor> {
  const dims: number[] = [];
  let name = '';
  let code = 0;
  let raw: number | undefined;
  let location = 0;
  const entries = new Map<string, string>();
  await eachField(reader, end, async (field) => {
    const { number, wire, value, end: fieldEnd } = field;
    if (number === tensor.dims) await addDim(reader, field, dims);
    if (number === tensor.dataType && wire === 'varint') code = Number(value);
    if (number === tensor.dataLocation && wire === 'varint') location = Number(value);
    if (wire !== 'bytes') return;
    if (number === tensor.rawData) raw = fieldEnd - reader.position;
    if (number === tensor.name) name = await reader.text(fieldEnd, maxNameBytes);
    if (number === tensor.externalData) {
      const [key, text] = await scanEntry(reader, fieldEnd);
      // A hostile file may have many keys. Only a few have a meaning.
      if (entries.size < 16) entries.set(key, text);
    }
  });
  const type = dataTypeName(code);
  const shown = JSON.stringify(name.slice(0, 200));
  if (type === undefined) throw new ModelError(`Tensor ${shown} has an unknown type (${code}).`);
  const elements = dims.reduce((product, dim) => product * dim, 1);
  if (!Number.isSafeInteger(elements)) throw new ModelError(`Tensor ${shown} has an impossible shape.`);
  const bytes = byteLengthOf(type, elements);
  if (location === external) {
    const file = entries.get('location');
    if (file === undefined) throw new ModelError(`Tensor ${shown} has no location of its external data.`);
    const offset = byteCount(entries.get('offset'), 'offset') ?? 0;
    draft.addExternal(file, offset + (byteCount(entries.get('length'), 'length') ?? bytes));
  } else if (raw !== undefined && raw !== bytes && type !== 'string') {
    throw new ModelError(
      `Tensor ${shown} has ${raw} bytes, but its shape [${dims.join(', ')}] needs ${bytes}.`,
    );
  }
  return { name, elements, bytes };
}

const maxRank = 64;

async function addDim(reader: WireReader, { wire, value, end }: Field, dims: number[]): Promise<void> {
  const add = (one: bigint | number): void => {
    const dim = signed(one);
    if (dim === undefined || dim < 0)
      throw new ModelError('A tensor in the model has an impossible dimension.');
    if (dims.length === maxRank)
      throw new ModelError(`A tensor in the model has more than ${maxRank} dimensions.`);
    dims.push(dim);
  };
  if (wire === 'varint') return add(value);
  // Packed varints of at most ten bytes each.
  if (wire !== 'bytes') return;
  if (end - reader.position > maxRank * 10)
    throw new ModelError(`A tensor in the model has more than ${maxRank} dimensions.`);
  const loading = reader.load(end - reader.position);
  if (loading !== undefined) await loading;
  while (reader.position < end) add(reader.varint(end));
}

async function scanEntry(reader: WireReader, end: number): Promise<[key: string, value: string]> {
  let key = '';
  let value = '';
  await eachField(reader, end, async ({ number, wire, end: fieldEnd }) => {
    if (wire !== 'bytes') return;
    if (number === 1) key = await reader.text(fieldEnd, maxNameBytes);
    if (number === 2) value = await reader.text(fieldEnd, maxNameBytes);
  });
  return [key, value];
}

function byteCount(text: string | undefined, what: string): number | undefined {
  if (text === undefined) return undefined;
  const count = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(count))
    throw new ModelError(`A tensor in the model has an impossible ${what} in its external data.`);
  return count;
}

/** Fields of SparseTensorProto. */
const sparse = { values: 1, indices: 2 };

/** Read a SparseTensorProto up to `end`. Counts its stored values. */
export async function scanSparse(
  reader: WireReader,
  end: number,
  draft: SummaryDraft,
): Promise<ScannedTensor> {
  let values: ScannedTensor = { name: '', elements: 0, bytes: 0 };
  await eachField(reader, end, async ({ number, wire, end: fieldEnd }) => {
    if (wire !== 'bytes') return;
    if (number === sparse.values) values = await scanTensor(reader, fieldEnd, draft);
    if (number === sparse.indices) await scanTensor(reader, fieldEnd, draft);
  });
  return values;
}
