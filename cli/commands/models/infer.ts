import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buildCommand } from '@stricli/core';
import { ProblemError } from '../../../shared/client/problem-error.ts';
import { UnreachableError } from '../../../shared/client/unreachable-error.ts';
import { NpzFile } from '../../../shared/onnx/model/npz/npz-file.ts';
import {
  datatypeOf,
  elementCount,
  elementsOf,
  isDatatype,
  unpackBytes,
} from '../../../shared/serving/protocol/datatypes.ts';
import {
  type Picture,
  pictureValues,
  takesPictures,
} from '../../../shared/serving/protocol/picture-values.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { connect, type Session } from '../../login/connect.ts';
import { modelArgument } from '../arguments.ts';
import { json, text, verbose } from '../flags.ts';
import { readImage, readImageFile } from './read-image.ts';

interface Flags {
  input?: readonly string[];
  image?: string;
  text?: readonly string[];
  pair?: readonly string[];
  version?: string;
  classes?: number;
  json?: boolean;
  verbose?: boolean;
}

interface SentTensor {
  described: {
    name: string;
    datatype: string;
    shape: readonly number[];
    /** Values of a picture or of JSON; those of an npz file follow the header as bytes. */
    data?: readonly (number | string | boolean)[] | undefined;
    parameters?: object;
  };
  bytes: Uint8Array;
}

/** An output of an answer with its values. */
interface Output {
  name: string;
  datatype: string;
  shape: number[];
  data: unknown[];
}

async function infer(this: CliContext, flags: Flags, model: string): Promise<void> {
  const session = await connect(this.env);
  if (flags.text !== undefined || flags.pair !== undefined) return inferTexts(this, session, flags, model);
  const described = async () => {
    const response = await send(session, addressOf(session, model, flags.version), {});
    return parsed(Buffer.from(await response.arrayBuffer()));
  };
  const inputs = async () => (await described()).inputs ?? [];
  const { image: file, input, classes } = flags;
  if (file !== undefined && input === undefined && classes === undefined && !namedFile.test(file)) {
    // A model with its image processor takes the file as it is.
    if ((await described()).parameters?.images) return inferImage(this, session, flags, model, file);
  }
  const tensors = await Promise.all(
    (flags.input ?? []).map((given) => readInput(this.folder, given, inputs)),
  );
  const image = flags.image === undefined ? undefined : await namedImage(this.folder, flags.image);
  const pictures = image === undefined ? [] : [await pictureTensor(session, model, flags, image)];
  const outputs = await ask(session, model, flags, [...tensors, ...pictures]);
  if (flags.json) this.printer.json({ model, outputs });
  else for (const output of outputs) this.process.stdout.write(`${shownOutput(output)}\n`);
}

/** Ask with texts. The model answers by vectors, labels, scores, or the labels of tokens. */
async function inferTexts(
  { printer, process }: CliContext,
  session: Session,
  { text = [], pair, version, input, image, classes, json: isJson }: Flags,
  model: string,
): Promise<void> {
  if (input !== undefined || image !== undefined || classes !== undefined)
    throw new CliError('--text takes no --input, --image or --classes.', exitCodes.usage);
  if (pair !== undefined && pair.length !== text.length)
    throw new CliError(
      `--pair needs a --text each: there are ${text.length} and ${pair.length}.`,
      exitCodes.usage,
    );
  const texts = pair === undefined ? text : text.map((first, index) => [first, pair[index]]);
  const answer = await askPlainly(session, addressOf(session, model, version), { texts });
  if (isJson) return printer.json(answer);
  const shown = text.map((first, index) => (pair === undefined ? first : `${first} | ${pair[index]}`));
  printAnswers(process, shown, answer);
}

/** Ask with the file of a picture. */
async function inferImage(
  { folder, printer, process }: CliContext,
  session: Session,
  { version, json: isJson }: Flags,
  model: string,
  file: string,
): Promise<void> {
  const images = [(await readImageFile(resolve(folder, file), file)).toString('base64')];
  const answer = await askPlainly(session, addressOf(session, model, version), { images });
  if (isJson) return printer.json(answer);
  printAnswers(process, [file], answer);
}

/** Ask without tensors. */
async function askPlainly(session: Session, address: string, request: object): Promise<PlainAnswer> {
  const response = await send(session, `${address}/infer`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(request),
  });
  return JSON.parse(await response.text());
}

function printAnswers(process: CliContext['process'], asked: readonly string[], answer: PlainAnswer): void {
  for (const [index, shown] of asked.entries()) {
    const { embeddings, labels, scores, tokens, cut } = answer;
    const values = (numbers: readonly number[]) =>
      `${numbers
        .slice(0, maxColumns)
        .map((value) => Number(value.toPrecision(6)))
        .join('  ')}${numbers.length > maxColumns ? '  …' : ''}`;
    const label = labels?.[index];
    const lines = [
      ...(embeddings?.[index] ? [`${embeddings[index].length} numbers: ${values(embeddings[index])}`] : []),
      ...(label ? [`${label.label}  ${values([label.score])}`] : []),
      ...(scores?.[index] === undefined ? [] : [values([scores[index]])]),
      ...(tokens?.[index] ?? []).map(
        ({ token, label: name, score }) => `${token}  ${name}  ${values([score])}`,
      ),
      ...(cut?.includes(index) ? ['cut: the model reads its first tokens only'] : []),
    ];
    process.stdout.write(`${[shown, ...lines.map((line) => `  ${line}`)].join('\n')}\n`);
  }
}

/** Answer to texts or pictures: the service wrote it. */
interface PlainAnswer {
  embeddings?: number[][];
  labels?: { label: string; score: number }[];
  scores?: number[];
  tokens?: { token: string; label: string; score: number }[][];
  cut?: number[];
}

/** Inputs of the model, as it describes them. */
type Inputs = NonNullable<Answer['inputs']>;

/** Read `name=file.npz`, `name=file.npz:array`, or `name=file.json`. */
async function readInput(folder: string, given: string, inputs: () => Promise<Inputs>): Promise<SentTensor> {
  const [, json = '', path = ''] = /^([^=]+)=(.+\.json)$/.exec(given) ?? [];
  if (json !== '')
    return jsonTensor(json, path, await readFile(resolve(folder, path), 'utf8'), await inputs());
  const [, name = '', file = '', array] = /^([^=]+)=(.+?\.npz)(?::(.+))?$/.exec(given) ?? [];
  if (name === '')
    throw new CliError(
      `--input ${given}: must be NAME=FILE.npz, NAME=FILE.npz:ARRAY or NAME=FILE.json. --image takes a picture.`,
      exitCodes.usage,
    );
  const npz = await NpzFile.open(resolve(folder, file));
  try {
    const { arrays } = npz;
    const wanted = array ?? (arrays.has(name) ? name : arrays.size === 1 ? [...arrays.keys()][0] : name);
    const found = arrays.get(wanted ?? name);
    if (found === undefined)
      throw new CliError(`${file} has no array ${wanted}. It has: ${[...arrays.keys()].join(', ')}.`);
    const { type, dims } = found.header;
    const datatype = datatypeOf(type);
    if (datatype === undefined)
      throw new CliError(`The array ${wanted} is of type ${type}, which no model takes.`);
    for await (const bytes of found.parts(elementCount(dims))) {
      const parameters = { binary_data_size: bytes.length };
      return { described: { name, datatype, shape: dims, parameters }, bytes };
    }
    throw new CliError(`The array ${wanted} is empty.`);
  } finally {
    await npz.close();
  }
}

/** Make a tensor of nested lists. The model says of which type; a list for each row needs no batch around it. */
function jsonTensor(name: string, file: string, text: string, inputs: Inputs): SentTensor {
  const input = inputs.find((one) => one.name === name);
  if (input === undefined) {
    const names = inputs.map((one) => one.name).join(', ');
    throw new CliError(
      `--input ${name}=${file}: the model has no input ${name}. It has: ${names}.`,
      exitCodes.usage,
    );
  }
  const shape: number[] = [];
  let values: unknown[] = [parsedJson(file, text)];
  while (values.length > 0 && values.every(Array.isArray)) {
    const lists: unknown[][] = values;
    const [{ length } = []] = lists;
    if (lists.some((list) => list.length !== length))
      throw new CliError(`${file}: lists of one level must have the same length.`, exitCodes.usage);
    shape.push(length);
    values = lists.flat(1);
  }
  const dims = shape.length === input.shape.length - 1 ? [1, ...shape] : shape;
  const { datatype } = input;
  return {
    described: { name, datatype, shape: dims, data: values as SentTensor['described']['data'] },
    bytes: new Uint8Array(),
  };
}

function parsedJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CliError(`${file} is no JSON: ${error instanceof Error ? error.message : ''}`, exitCodes.usage);
  }
}

interface NamedImage {
  /** Input that takes it; undefined for the only one that takes pictures. */
  name: string | undefined;
  file: string;
  picture: Picture;
}

const namedFile = /^([^=/.]+)=(.+)$/;

/** Read `photo.png`, or `name=photo.png`. */
async function namedImage(folder: string, given: string): Promise<NamedImage> {
  const [, name, file = given] = namedFile.exec(given) ?? [];
  return { name, file, picture: await readImage(resolve(folder, file), file) };
}

/** Scale a picture to the input that takes it. */
async function pictureTensor(
  session: Session,
  model: string,
  { version, input = [] }: Flags,
  { name, file, picture }: NamedImage,
): Promise<SentTensor> {
  const response = await send(session, addressOf(session, model, version), {});
  const { inputs = [] } = parsed(Buffer.from(await response.arrayBuffer()));
  const given = new Set(input.map((one) => one.split('=')[0]));
  const taking = inputs.filter((one) => takesPictures(one));
  const wanted = taking.filter((one) => (name === undefined ? !given.has(one.name) : one.name === name));
  const [found] = wanted;
  const sent = found && pictureValues(picture, found);
  if (found === undefined || sent === undefined || wanted.length > 1) {
    const names = taking.map((one) => one.name).join(', ') || 'none';
    const detail = `--image ${file}: name the input as NAME=${file}. Inputs of ${model} that take a picture: ${names}.`;
    throw new CliError(detail, exitCodes.usage);
  }
  const { datatype } = found;
  return { described: { name: found.name, datatype, ...sent }, bytes: new Uint8Array() };
}

function addressOf({ client: { url } }: Session, model: string, version: string | undefined): string {
  const chosen = version === undefined ? '' : `/versions/${encodeURIComponent(version)}`;
  return `${url}/v2/models/${encodeURIComponent(model)}${chosen}`;
}

/** Send a request of the protocol. @throws ProblemError with the message of its error */
async function send({ client: { url }, token }: Session, address: string, init: RequestInit) {
  const headers = { ...init.headers, Authorization: `Bearer ${token}` };
  const response = await fetch(address, { ...init, headers }).catch((cause: unknown) => {
    throw new UnreachableError(url, cause);
  });
  if (response.ok) return response;
  const { error = '' } = parsed(Buffer.from(await response.arrayBuffer()));
  throw new ProblemError(response.status, { detail: error }, `HTTP status ${response.status}`);
}

async function ask(
  session: Session,
  model: string,
  { version, classes }: Flags,
  tensors: readonly SentTensor[],
): Promise<Output[]> {
  const head = Buffer.from(
    JSON.stringify({
      inputs: tensors.map(({ described }) => described),
      parameters: { binary_data_output: true, ...(classes !== undefined && { classification: classes }) },
    }),
  );
  const response = await send(session, `${addressOf(session, model, version)}/infer`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/octet-stream',
      'Inference-Header-Content-Length': String(head.length),
    },
    body: Buffer.concat([head, ...tensors.map(({ bytes }) => bytes)]),
  });
  const body = Buffer.from(await response.arrayBuffer());
  const length = Number(response.headers.get('inference-header-content-length') ?? body.length);
  let at = length;
  return parsed(body.subarray(0, length)).outputs.map(({ name, datatype, shape, parameters }) => {
    const bytes = body.subarray(at, at + parameters.binary_data_size);
    at += bytes.length;
    return { name, datatype, shape, data: valuesOf(datatype, bytes) };
  });
}

/** JSON of an answer: the service wrote it. */
interface Answer {
  error?: string;
  inputs?: { name: string; datatype: string; shape: number[] }[];
  parameters?: { images?: object | null };
  outputs: { name: string; datatype: string; shape: number[]; parameters: { binary_data_size: number } }[];
}

function parsed(bytes: Uint8Array): Answer {
  try {
    return { outputs: [], ...JSON.parse(Buffer.from(bytes).toString('utf8')) };
  } catch {
    return { outputs: [] };
  }
}

function valuesOf(datatype: string, bytes: Uint8Array): unknown[] {
  if (datatype === 'BYTES') return (unpackBytes(bytes) ?? []).map((one) => Buffer.from(one).toString('utf8'));
  if (!isDatatype(datatype)) return [];
  const values = Array.from<number | bigint>(elementsOf({ datatype, bytes }));
  if (datatype === 'BOOL') return values.map((value) => value !== 0);
  // JSON has no integers of 64 bits.
  return values.map((value) =>
    typeof value === 'bigint' && !Number.isSafeInteger(Number(value)) ? String(value) : Number(value),
  );
}

/** Rows that the terminal shows of an output. */
const maxRows = 10;
const maxColumns = 12;

function shownOutput({ name, datatype, shape, data }: Output): string {
  const columns = shape.length < 2 ? data.length : elementCount(shape.slice(1));
  const rows = columns === 0 ? 0 : Math.ceil(data.length / columns);
  const lines = Array.from({ length: Math.min(rows, maxRows) }, (_, row) => {
    const values = data.slice(row * columns, row * columns + Math.min(columns, maxColumns));
    const texts = values.map((value) =>
      typeof value === 'number' ? String(Number(value.toPrecision(6))) : String(value),
    );
    return `  ${texts.join('  ')}${columns > maxColumns ? '  …' : ''}`;
  });
  return [`${name}  ${datatype} [${shape.join(', ')}]`, ...lines, ...(rows > maxRows ? ['  …'] : [])].join(
    '\n',
  );
}

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error('must be a whole number above 0');
  return value;
};

export const inferCommand = buildCommand<Flags, [string], CliContext>({
  func: infer,
  parameters: {
    positional: { kind: 'tuple', parameters: [modelArgument] },
    flags: {
      input: {
        kind: 'parsed',
        parse: String,
        variadic: true,
        placeholder: 'NAME=FILE',
        brief: 'An input and the npz or JSON file with its values; :ARRAY after an npz file chooses an array',
        optional: true,
      },
      image: text(
        'FILE',
        'A PNG or JPEG file: as it is for a model with its image processor, else scaled to the input that takes pictures; NAME=FILE chooses the input',
      ),
      text: {
        kind: 'parsed',
        parse: String,
        variadic: true,
        placeholder: 'TEXT',
        brief: 'A text, for a model with its tokenizer; may be repeated',
        optional: true,
      },
      pair: {
        kind: 'parsed',
        parse: String,
        variadic: true,
        placeholder: 'TEXT',
        brief: 'The second text of each --text, for a model of pairs',
        optional: true,
      },
      version: text('ID', 'Version or alias to ask'),
      classes: {
        kind: 'parsed',
        parse: whole,
        placeholder: 'N',
        brief: 'Show the best N classes',
        optional: true,
      },
      json,
      verbose,
    },
  },
  docs: {
    brief: 'Ask a served model',
    fullDescription: `Examples:
  mps infer digits --input image=samples.npz
  mps infer digits --input x=digits-test.npz:x --classes 3
  mps infer digits --input x=rows.json
  mps infer digits --image photo.png
  mps infer reviews --text "It works" --text "It does not"
  mps infer digits --input x=digits-test.npz:x --version champion --json`,
  },
});
