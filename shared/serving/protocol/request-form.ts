import { isImage } from '../images/image-signature.ts';
import { packBytes, type RawTensor, unpackBytes } from './datatypes.ts';
import { type Medium, type ModelSignature, mediumInputs } from './signature.ts';

/** How a request asks: by the inputs of the model, or by texts or pictures in their place. */
export interface RequestForm {
  signature: ModelSignature;
  medium: Medium | undefined;
  /** Whether they came without tensors, and are answered so. */
  isPlain: boolean;
  /** Inputs as tensors; undefined if what came without them is no list of texts or pictures. */
  given: unknown;
}

type Fault = (name: string, message: string) => void;
type Fields = Readonly<Record<string, unknown>>;

/** Find out in which form a request asks. A model whose own input has the name of a medium is asked by that input. */
export function formOf(request: Fields, signature: ModelSignature, fault: Fault): RequestForm {
  const { inputs: given } = request;
  const names = Array.isArray(given) ? given.map(nameOf) : [];
  const isOwn = (name: string) => signature.inputs.some((input) => input.name === name);
  const plain = given === undefined ? media.find((medium) => request[medium] !== undefined) : undefined;
  const medium =
    plain ??
    media.find((medium) => mediumInputs[medium].some((name) => names.includes(name) && !isOwn(name)));
  if (medium === undefined) return { signature, medium, isPlain: false, given };
  const isPlain = plain !== undefined;
  if (isPlain)
    for (const name of Object.keys(request))
      if (name !== medium && !besidePlain.includes(name)) fault(name, unknownBeside(medium));
  const { form, reason = 'it has no files for them' } = signature[medium] ?? {};
  if (form === undefined) {
    fault(isPlain ? medium : 'inputs', `this model takes no ${called[medium]}: ${reason}`);
    return { signature: { inputs: [], outputs: [] }, medium, isPlain, given: [] };
  }
  const { inputs, outputs } = form;
  const list = request[medium];
  const asked = inputs.filter(
    ({ name }) => name !== 'text_pair' || (isPlain ? isPairs(list) : names.includes(name)),
  );
  const read = medium === 'texts' ? readTexts : readImages;
  return {
    signature: { inputs: asked, outputs },
    medium,
    isPlain,
    given: isPlain ? read(list, fault) : given,
  };
}

const media = ['texts', 'images'] as const satisfies readonly Medium[];
/** Fields that a request may have beside its texts or pictures. */
const besidePlain: readonly string[] = ['id', 'outputs', 'parameters'];
const unknownBeside = (medium: Medium): string =>
  `is no field beside ${medium}${medium === 'texts' ? '; a pair is a list of two texts: {"texts": [["…", "…"]]}' : ''}`;
const called = { texts: 'texts', images: 'pictures' } as const;

const nameOf = (tensor: unknown): unknown =>
  typeof tensor === 'object' && tensor !== null && 'name' in tensor ? tensor.name : undefined;

/**
 * What the sender of plain texts or pictures calls a part of the tensors that they were read as: `inputs[0].data[3]` is `texts[3]`, or
 * `texts[3][0]` of pairs.
 */
export function plainName(name: string, { medium = 'texts', signature }: RequestForm): string {
  const { side, at } = /^inputs\[(?<side>\d)\]\.data\[(?<at>\d+)\]/.exec(name)?.groups ?? {};
  if (!name.startsWith('inputs')) return name;
  if (at === undefined) return medium;
  return `${medium}[${at}]${signature.inputs.length > 1 ? `[${side}]` : ''}`;
}

/** Check the texts or pictures of a request, and return the inputs of the process: pictures as their files. */
export function checkForm(
  inputs: readonly RawTensor[],
  { medium, isPlain }: Pick<RequestForm, 'medium' | 'isPlain'>,
  fault: Fault,
): readonly RawTensor[] {
  if (medium === undefined) return inputs;
  const field = isPlain ? medium : 'inputs';
  if (medium === 'images') return checkImages(inputs, field, fault);
  checkTexts(inputs, field, fault);
  return inputs;
}

const isPairs = (texts: unknown): boolean => Array.isArray(texts) && Array.isArray(texts[0]);

const bytesTensor = (name: string, data: readonly unknown[]) => ({
  name,
  datatype: 'BYTES',
  shape: [data.length],
  data,
});

/** Read `["…"]`, or pairs `[["…", "…"]]`, as tensors. */
function readTexts(texts: unknown, fault: Fault): unknown[] | undefined {
  const list = Array.isArray(texts) ? texts : [];
  if (list.length === 0) {
    fault('texts', 'must be a list of texts, or of pairs of texts, with at least one');
    return undefined;
  }
  const hasPairs = isPairs(list);
  const wrong = list.findIndex((text) =>
    hasPairs
      ? !(Array.isArray(text) && text.length === 2 && text.every((one) => typeof one === 'string'))
      : typeof text !== 'string',
  );
  if (wrong !== -1) {
    fault(
      `texts[${wrong}]`,
      hasPairs ? 'must be a pair: a list of two texts, as the first one is' : 'must be a text',
    );
    return undefined;
  }
  if (!hasPairs) return [bytesTensor('text', list)];
  const side = (index: number) => list.map((pair) => (Array.isArray(pair) ? pair[index] : undefined));
  return [bytesTensor('text', side(0)), bytesTensor('text_pair', side(1))];
}

/** Read files in base64 as a tensor. */
function readImages(images: unknown, fault: Fault): unknown[] | undefined {
  const list = Array.isArray(images) ? images : [];
  const wrong = list.findIndex((image) => typeof image !== 'string');
  if (list.length === 0) fault('images', 'must be a list of pictures in base64, with at least one');
  if (wrong !== -1) fault(`images[${wrong}]`, notAnImage);
  return list.length === 0 || wrong !== -1 ? undefined : [bytesTensor('image', list)];
}

const notAnImage = 'must be a PNG or JPEG file in base64';

/** Bytes of a picture's file. */
const maxImageBytes = 2 ** 24;

/** Binary tensors hold the files themselves, JSON their base64. */
function checkImages(inputs: readonly RawTensor[], field: string, fault: Fault): readonly RawTensor[] {
  const [input] = inputs;
  if (input === undefined) return [];
  const files = (unpackBytes(input.bytes) ?? []).map((bytes) =>
    isImage(bytes) ? bytes : Buffer.from(textOf(bytes).replace(dataUrl, ''), 'base64'),
  );
  if (files.length === 0) fault(field, 'has no picture: at least one is needed');
  for (const [index, { length }] of files.entries())
    if (length > maxImageBytes)
      fault(`images[${index}]`, `has ${length} bytes; at most ${maxImageBytes} are allowed`);
  for (const [index, file] of files.entries()) if (!isImage(file)) fault(`images[${index}]`, notAnImage);
  return [{ ...input, bytes: packBytes(files) }];
}

const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('latin1');

/** What browsers write before the base64 of a file. */
const dataUrl = /^data:[\w/+.-]{0,100};base64,/;

/** Bytes of a text in UTF-8: no model reads as many tokens as this holds. */
const maxTextBytes = 2 ** 15;
/** Bytes of all texts of a request: the slowest tokenizer takes 4 s for them. */
const maxTextsBytes = 2 ** 19;

function checkTexts(inputs: readonly RawTensor[], field: string, fault: Fault): void {
  const [text, second] = inputs;
  if (text?.shape[0] === 0) fault(field, 'has no text: at least one is needed');
  if (second !== undefined && second.shape[0] !== text?.shape[0])
    fault(
      'inputs',
      `has ${text?.shape[0]} texts in "text" and ${second.shape[0]} in "text_pair": each pair has both`,
    );
  const sizes = inputs.flatMap(({ bytes }) => (unpackBytes(bytes) ?? []).map(({ length }) => length));
  const long = sizes.findIndex((size) => size > maxTextBytes);
  if (long !== -1)
    fault(
      field,
      `has a text of ${sizes[long]} bytes; at most ${maxTextBytes} are allowed. Split it: the model reads its first tokens only`,
    );
  const all = sizes.reduce((sum, size) => sum + size, 0);
  if (all > maxTextsBytes)
    fault(field, `has texts of ${all} bytes together; at most ${maxTextsBytes} are allowed`);
}
