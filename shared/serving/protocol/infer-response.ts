import { badRequest } from '../../core/service-error.ts';
import {
  elementBytes,
  elementCount,
  elementsOf,
  packBytes,
  type RawTensor,
  unpackBytes,
} from './datatypes.ts';
import type { RequestedOutput } from './infer-request.ts';

/** An answer: JSON, and the binary tensors after it. */
export interface InferResponse {
  json: string;
  binary: readonly Uint8Array[];
}

interface Answered {
  model_name: string;
  model_version: string;
  id: string | undefined;
  tensors: readonly RawTensor[];
  requested: readonly RequestedOutput[];
  labels: readonly string[] | undefined;
}

/**
 * Write an answer with the outputs as they were requested.
 * @throws ServiceError `bad-request` if JSON cannot hold the values of an output, or it has no classes
 */
export function writeInferResponse({ tensors, requested, labels, ...answered }: Answered): InferResponse {
  const binary: Uint8Array[] = [];
  const outputs = requested.map(({ name, isBinary, classification }, index) => {
    const found = tensors.find((tensor) => tensor.name === name);
    if (found === undefined) throw new Error(`the session did not return ${name}`);
    const place = `outputs[${index}]`;
    const tensor = classification === undefined ? found : classified(found, classification, labels, place);
    const { datatype, shape, bytes } = tensor;
    const described = { name, datatype, shape };
    if (!isBinary) return `${JSON.stringify(described).slice(0, -1)},"data":[${valuesText(tensor, place)}]}`;
    binary.push(bytes);
    return JSON.stringify({ ...described, parameters: { binary_data_size: bytes.length } });
  });
  const { id, model_name, model_version } = answered;
  const head = JSON.stringify({ model_name, model_version, ...(id !== undefined && { id }) });
  return { json: `${head.slice(0, -1)},"outputs":[${outputs.join(',')}]}`, binary };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Write the values of a tensor as JSON, without the brackets of the list. */
function valuesText(tensor: RawTensor, place: string): string {
  const { datatype, name } = tensor;
  if (datatype === 'BYTES')
    return (unpackBytes(tensor.bytes) ?? []).map((one) => JSON.stringify(utf8.decode(one))).join(',');
  const elements = elementsOf(tensor);
  if (datatype === 'BOOL')
    return Array.from<number | bigint>(elements)
      .map((one) => String(Number(one) !== 0))
      .join(',');
  const isFloat = datatype === 'FP16' || datatype === 'FP32' || datatype === 'FP64';
  if (isFloat && Array.from<number | bigint>(elements).some((one) => !Number.isFinite(Number(one)))) {
    const message = `JSON has no NaN and no Infinity, which the output ${JSON.stringify(name)} contains; ask for it with "parameters": {"binary_data": true}`;
    throw badRequest([{ in: 'body', name: place, message }]);
  }
  return elements.join(',');
}

/** Replace the last axis by its best `count` classes: "<value>:<index>" or "<value>:<index>:<label>", as Triton does. */
function classified(
  tensor: RawTensor,
  count: number,
  labels: readonly string[] | undefined,
  place: string,
): RawTensor {
  const { name, datatype, shape } = tensor;
  const classes = shape.at(-1);
  if (classes === undefined || classes === 0 || elementBytes[datatype] === undefined) {
    const message = `${JSON.stringify(name)} has no classes: it is ${datatype} of the shape [${shape.join(', ')}]`;
    throw badRequest([{ in: 'body', name: `${place}.parameters.classification`, message }]);
  }
  const values = Array.from<number | bigint>(elementsOf(tensor)).map(Number);
  const rows = elementCount(shape.slice(0, -1));
  const kept = Math.min(count, classes);
  const best = Array.from({ length: rows }, (_, row) => {
    const own = values.slice(row * classes, (row + 1) * classes);
    return own
      .map((value, index) => ({ value, index }))
      .sort((a, b) => (Number.isNaN(a.value) ? 1 : Number.isNaN(b.value) ? -1 : b.value - a.value))
      .slice(0, kept)
      .map(({ value, index }) => {
        const label = labels?.[index];
        return Buffer.from(`${shownValue(value)}:${index}${label === undefined ? '' : `:${label}`}`);
      });
  });
  return { name, datatype: 'BYTES', shape: [...shape.slice(0, -1), kept], bytes: packBytes(best.flat()) };
}

/** Six decimals as Triton, and more digits for small values. */
const shownValue = (value: number): string =>
  Number.isFinite(value) && Math.abs(value) < 1e-3 && value !== 0 ? value.toPrecision(6) : value.toFixed(6);
