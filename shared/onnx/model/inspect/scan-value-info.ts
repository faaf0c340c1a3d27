import { ModelError } from '../model-error.ts';
import { dataTypeName } from '../tensor/data-type.ts';
import { maxNameBytes } from './inspect-limits.ts';
import type { TensorSummary } from './model-summary.ts';
import { eachField, signed, type WireReader } from './wire-reader.ts';

/** Read the ValueInfoProto of an input or output up to `end`. */
export async function scanValueInfo(reader: WireReader, end: number): Promise<TensorSummary> {
  let name = '';
  let rest: Omit<TensorSummary, 'name'> = { type: 'undefined', shape: null };
  await eachField(reader, end, async ({ number, wire, end: fieldEnd }) => {
    if (wire !== 'bytes') return;
    if (number === 1) name = await reader.text(fieldEnd, maxNameBytes);
    if (number === 2) rest = await scanType(reader, fieldEnd);
  });
  return { name, ...rest };
}

type Shape = NonNullable<TensorSummary['shape']>;

/** Fields of TypeProto, each with its kind of value. */
const kinds: Readonly<Record<number, string>> = {
  1: 'tensor',
  4: 'sequence',
  5: 'map',
  7: 'opaque',
  8: 'sparse_tensor',
  9: 'optional',
};

/** Read a TypeProto: the kind of value, and a tensor's element type and shape. */
async function scanType(reader: WireReader, end: number): Promise<Omit<TensorSummary, 'name'>> {
  let type = '';
  let shape: Shape | null = null;
  await eachField(reader, end, async ({ number, wire, end: kindEnd }) => {
    const kind = kinds[number];
    if (kind === undefined || wire !== 'bytes') return;
    type = kind;
    if (kind !== 'tensor') return;
    await eachField(reader, kindEnd, async (field) => {
      if (field.number === 1 && field.wire === 'varint')
        type = dataTypeName(Number(field.value)) ?? 'undefined';
      if (field.number === 2 && field.wire === 'bytes') shape = await scanShape(reader, field.end);
    });
  });
  return { type, shape };
}

const maxRank = 64;

async function scanShape(reader: WireReader, end: number): Promise<Shape> {
  const shape: Shape = [];
  await eachField(reader, end, async ({ number, wire, end: fieldEnd }) => {
    if (number !== 1 || wire !== 'bytes') return;
    if (shape.length === maxRank)
      throw new ModelError(`An input or output of the model has more than ${maxRank} dimensions.`);
    shape.push(await scanDim(reader, fieldEnd));
  });
  return shape;
}

async function scanDim(reader: WireReader, end: number): Promise<Shape[number]> {
  let dim: Shape[number] = null;
  await eachField(reader, end, async ({ number, wire, value, end: fieldEnd }) => {
    if (number === 1 && wire === 'varint') {
      const size = signed(value);
      if (size === undefined)
        throw new ModelError('An input or output of the model has an impossible dimension.');
      dim = size < 0 ? null : size;
    }
    if (number === 2 && wire === 'bytes') {
      const name = await reader.text(fieldEnd, maxNameBytes);
      dim = name === '' ? null : name;
    }
  });
  return dim;
}
