import { badRequest, type ParameterFault } from '../../core/service-error.ts';
import { elementBytes, elementCount, isDatatype, type RawTensor, unpackBytes, widened } from './datatypes.ts';
import { type InferMessage, messageParts, parseJson } from './infer-message.ts';
import { readData } from './json-values.ts';
import { liftNumbers, type NumberList } from './lift-numbers.ts';
import { checkForm, formOf, plainName } from './request-form.ts';
import type { Medium, ModelSignature, TensorSignature } from './signature.ts';

/** A request as the protocol's clients send it, checked against the model. */
export interface InferRequest {
  id: string | undefined;
  inputs: readonly RawTensor[];
  outputs: readonly RequestedOutput[];
  /** Whether the inputs are texts or pictures. */
  medium: Medium | undefined;
  /** Whether these came without tensors, and are answered so. */
  isPlain: boolean;
}

/** An output of the answer. */
export interface RequestedOutput {
  name: string;
  isBinary: boolean;
  /** Number of best classes to answer in place of the values. */
  classification: number | undefined;
}

/**
 * Read a request: JSON, or JSON followed by binary tensors. Check each input against the model before it runs.
 * @throws ServiceError `bad-request` that names all faults
 */
export async function readInferRequest(
  message: InferMessage,
  signature: ModelSignature,
  maxBatch: number,
): Promise<InferRequest> {
  const { json, binary } = await messageParts(message);
  const faults: ParameterFault[] = [];
  const fault: Fault = (name, text) => void faults.push({ in: 'body', name, message: text });
  const isExact = signature.inputs.some(({ datatype }) => datatype === 'INT64' || datatype === 'UINT64');
  const isSingle = signature.inputs.every(({ datatype }) => datatype === 'FP32');
  const lifted = liftNumbers(json, isSingle);
  const request = objectOf(parseJson(lifted?.text ?? json, isExact));
  if (request === undefined)
    throw badRequest([{ in: 'body', name: 'body', message: 'must be a JSON object' }]);
  const { id, parameters } = request;
  if (id !== undefined && (typeof id !== 'string' || id.length > maxIdLength))
    fault('id', `must be a string of at most ${maxIdLength} characters`);
  const lists = lifted?.lists ?? [];
  const form = formOf(request, signature, fault);
  const { signature: asked, medium, isPlain, given } = form;
  const inputFault: Fault = (name, text) => fault(isPlain ? plainName(name, form) : name, text);
  const read =
    isPlain && given === undefined
      ? []
      : readInputs(given, binary, { signature: asked, maxBatch, lists, fault: inputFault });
  const outputs = readOutputs(request['outputs'], objectOf(parameters) ?? {}, asked, fault);
  const inputs = faults.length === 0 ? checkForm(read, { medium, isPlain }, fault) : read;
  if (faults.length > 0) throw badRequest(faults.slice(0, maxFaults));
  return { id: typeof id === 'string' && id !== '' ? id : undefined, inputs, outputs, medium, isPlain };
}

type Fault = (name: string, message: string) => void;
type Fields = Readonly<Record<string, unknown>>;

const maxIdLength = 1024;

/** Faults that one answer names. */
const maxFaults = 20;

const objectOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;

interface Check {
  signature: ModelSignature;
  maxBatch: number;
  /** Lists of numbers, by the indices that stand for them in the request. */
  lists: readonly NumberList[];
  fault: Fault;
}

function readInputs(given: unknown, binary: Uint8Array, check: Check): RawTensor[] {
  const { signature, fault } = check;
  const names = signature.inputs.map(({ name }) => JSON.stringify(name)).join(', ');
  if (!Array.isArray(given)) {
    fault('inputs', `must be a list of the inputs of the model: ${names}`);
    return [];
  }
  const read: RawTensor[] = [];
  const seen = new Set<string>();
  let at = 0;
  let isCovered = true;
  for (const [index, one] of given.slice(0, maxTensors).entries()) {
    const place = `inputs[${index}]`;
    const fields = objectOf(one);
    if (fields === undefined) {
      fault(place, 'must be an object with name, shape, datatype and data');
      continue;
    }
    const { name } = fields;
    const size = objectOf(fields['parameters'])?.['binary_data_size'];
    const isSize = typeof size === 'number' && Number.isSafeInteger(size) && size >= 0;
    let raw: Uint8Array | undefined;
    if (size !== undefined) {
      const left = binary.length - at;
      if (!isSize || size > left) {
        isCovered = false;
        fault(
          `${place}.parameters.binary_data_size`,
          `must be at most ${left}, the bytes that are left of the body`,
        );
      } else {
        raw = binary.subarray(at, at + size);
        at += size;
      }
    }
    const wanted = signature.inputs.find((tensor) => tensor.name === name);
    if (typeof name === 'string' && signature.defaulted?.includes(name)) {
      const text = `${JSON.stringify(name)} has a default in the model, which a request cannot replace: leave it out`;
      fault(`${place}.name`, text);
      continue;
    }
    if (typeof name !== 'string' || wanted === undefined) {
      fault(
        `${place}.name`,
        `must be an input of the model: ${names}; it is ${JSON.stringify(name) ?? 'missing'}`,
      );
      continue;
    }
    if (seen.has(name)) fault(`${place}.name`, `${JSON.stringify(name)} is given twice`);
    seen.add(name);
    const tensor = readTensor(place, fields, wanted, { raw, isBinary: size !== undefined, check });
    if (tensor !== undefined) read.push(tensor);
  }
  if (given.length > maxTensors) fault('inputs', `has more than ${maxTensors} tensors`);
  for (const { name } of signature.inputs) {
    if (!seen.has(name)) fault('inputs', `lacks the input ${JSON.stringify(name)}`);
  }
  if (isCovered && at < binary.length && given.length <= maxTensors)
    fault('body', `has ${binary.length - at} bytes after the JSON that no binary_data_size covers`);
  return read;
}

const maxTensors = 1024;

interface Reading {
  raw: Uint8Array | undefined;
  isBinary: boolean;
  check: Check;
}

/** Check type, shape and bytes each by itself, so that one answer names the faults of all three. */
function readTensor(
  place: string,
  { shape, datatype: given, data: listed }: Fields,
  tensorSignature: TensorSignature,
  { raw, isBinary, check: { maxBatch, lists, fault } }: Reading,
): RawTensor | undefined {
  const { name } = tensorSignature;
  const data = typeof listed === 'number' ? (lists[listed] ?? listed) : listed;
  const known = typeof given === 'string' && isDatatype(given) ? given : undefined;
  const { datatype: own } = tensorSignature;
  // Half of the bytes, for pictures that a function of AWS would not receive.
  const isHalf = isBinary && known === 'FP16' && own === 'FP32';
  if (known !== own && !isHalf)
    fault(`${place}.datatype`, `must be ${own}; it is ${JSON.stringify(given) ?? 'missing'}`);
  const dims = readShape(shape);
  const isGoodShape = checkShape(`${place}.shape`, dims, tensorSignature, maxBatch, fault);
  // KServe's client sends a null beside the size of an empty tensor.
  if (isBinary && data !== undefined && data !== null)
    fault(`${place}.data`, 'must be left out where binary_data_size is given');
  // The values follow the type and the shape that the request states: a wrong one of these is one fault, not two.
  const datatype = known ?? own;
  const fixed = tensorSignature.shape?.every((dim) => dim >= 0) ? tensorSignature.shape : undefined;
  const stated = dims !== undefined && elementCount(dims) <= maxElements ? dims : fixed;
  if (isBinary) {
    if (raw === undefined || stated === undefined) return undefined;
    const tensor = checkRaw(
      place,
      { name, datatype, shape: stated, bytes: raw },
      elementCount(stated),
      tensorSignature.holdsFiles === true,
      fault,
    );
    if (tensor === undefined || !isGoodShape) return undefined;
    return isHalf ? widened(tensor) : tensor;
  }
  const count = stated === undefined ? undefined : elementCount(stated);
  const bytes = readData(`${place}.data`, data, datatype, count, fault);
  return bytes && isGoodShape && stated !== undefined ? { name, datatype, shape: stated, bytes } : undefined;
}

function checkShape(
  place: string,
  dims: readonly number[] | undefined,
  { shape: wanted }: TensorSignature,
  maxBatch: number,
  fault: Fault,
): boolean {
  const before = wanted?.[0] === -1 ? (dims?.[0] ?? 0) : 0;
  const count = elementCount(dims ?? []);
  const isFree = wanted === null || wanted.includes(-1, 1);
  const each = elementCount(dims?.slice(1) ?? []);
  const message =
    dims === undefined
      ? `must be a list of whole numbers: ${shapeText(wanted)}`
      : !isShape(dims, wanted)
        ? `must be ${shapeText(wanted)}; it is ${shapeText(dims)}`
        : before > maxBatch
          ? `has a first dimension of ${before}; this model takes at most ${maxBatch} (max_batch)`
          : count > maxElements
            ? `has ${count} elements; at most ${maxElements} are allowed`
            : isFree && each > maxFreeElements
              ? `has ${each} elements behind its first dimension; at most ${maxFreeElements} are allowed where the model leaves sizes free`
              : undefined;
  if (message !== undefined) fault(place, message);
  return message === undefined;
}

const maxElements = 2 ** 28;

/** Elements of a picture, a recording or the like whose size the sender chooses: four channels of 1,024 x 1,024. */
const maxFreeElements = 2 ** 22;

const readShape = (shape: unknown): number[] | undefined =>
  Array.isArray(shape) && shape.length <= 64 && shape.every((dim) => Number.isSafeInteger(dim) && dim >= 0)
    ? shape.map(Number)
    : undefined;

const isShape = (dims: readonly number[], wanted: TensorSignature['shape']): boolean =>
  wanted === null ||
  (dims.length === wanted.length && wanted.every((dim, axis) => dim === -1 || dim === dims[axis]));

const shapeText = (shape: readonly number[] | null): string =>
  shape === null ? 'any shape' : `[${shape.join(', ')}]`;

function checkRaw(
  place: string,
  tensor: RawTensor,
  count: number,
  holdsFiles: boolean,
  fault: Fault,
): RawTensor | undefined {
  const { datatype, bytes, shape } = tensor;
  const size = elementBytes[datatype];
  const at = `${place}.parameters.binary_data_size`;
  if (size !== undefined) {
    if (bytes.length === count * size) return tensor;
    fault(
      at,
      `must be ${count * size} for ${datatype} of the shape ${shapeText(shape)}; it is ${bytes.length}`,
    );
    return undefined;
  }
  const elements = unpackBytes(bytes);
  if (elements?.length !== count) {
    fault(
      at,
      `must hold ${count} elements, each after its length in 4 bytes; it holds ${elements?.length ?? 'a part of one'}`,
    );
    return undefined;
  }
  if (holdsFiles) return tensor;
  const cut = elements.findIndex((element) => element.includes(0));
  if (cut !== -1) {
    fault(place, `holds U+0000 in element ${cut}, at which ONNX Runtime would cut it`);
    return undefined;
  }
  if (elements.every((element) => isUtf8(element))) return tensor;
  fault(place, 'holds BYTES that are not UTF-8, which ONNX Runtime does not take as strings');
  return undefined;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    utf8.decode(bytes);
    return true;
  } catch {
    return false;
  }
};

function readOutputs(
  given: unknown,
  parameters: Fields,
  signature: ModelSignature,
  fault: Fault,
): RequestedOutput[] {
  const isBinary = parameters['binary_data_output'] === true;
  const classification = readClassification('parameters', parameters['classification'], fault);
  if (given === undefined || (Array.isArray(given) && given.length === 0))
    return signature.outputs.map(({ name }) => ({ name, isBinary, classification }));
  const names = signature.outputs.map(({ name }) => JSON.stringify(name)).join(', ');
  if (!Array.isArray(given)) {
    fault('outputs', `must be a list of outputs of the model: ${names}`);
    return [];
  }
  const read: RequestedOutput[] = [];
  for (const [index, one] of given.slice(0, maxTensors).entries()) {
    const place = `outputs[${index}]`;
    const { name, parameters: own } = objectOf(one) ?? {};
    if (!signature.outputs.some((tensor) => tensor.name === name)) {
      fault(
        `${place}.name`,
        `must be an output of the model: ${names}; it is ${JSON.stringify(name) ?? 'missing'}`,
      );
      continue;
    }
    if (read.some((output) => output.name === name))
      fault(`${place}.name`, `${JSON.stringify(name)} is given twice`);
    const asked = objectOf(own) ?? {};
    const { binary_data } = asked;
    if (binary_data !== undefined && typeof binary_data !== 'boolean')
      fault(`${place}.parameters.binary_data`, 'must be true or false');
    read.push({
      name: String(name),
      isBinary: typeof binary_data === 'boolean' ? binary_data : isBinary,
      classification:
        readClassification(`${place}.parameters`, asked['classification'], fault) ?? classification,
    });
  }
  return read;
}

function readClassification(place: string, value: unknown, fault: Fault): number | undefined {
  if (value === undefined || value === 0) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  fault(`${place}.classification`, 'must be the number of best classes, a whole number above 0');
  return undefined;
}
