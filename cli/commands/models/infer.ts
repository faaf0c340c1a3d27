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
import { json, verbose } from '../flags.ts';
import { readImage } from './read-image.ts';

interface Flags {
  input?: readonly string[];
  image?: string;
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
    /** Values of a picture; those of a file follow the header as bytes. */
    data?: readonly number[];
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
  const tensors = await Promise.all((flags.input ?? []).map((given) => readInput(this.folder, given)));
  const image = flags.image === undefined ? undefined : await namedImage(this.folder, flags.image);
  const session = await connect(this.env);
  const pictures = image === undefined ? [] : [await pictureTensor(session, model, flags, image)];
  const outputs = await ask(session, model, flags, [...tensors, ...pictures]);
  if (flags.json) this.printer.json({ model, outputs });
  else for (const output of outputs) this.process.stdout.write(`${shownOutput(output)}\n`);
}

/** Read `name=file.npz`, or `name=file.npz:array`. */
async function readInput(folder: string, given: string): Promise<SentTensor> {
  const [, name = '', file = '', array] = /^([^=]+)=(.+?\.npz)(?::(.+))?$/.exec(given) ?? [];
  if (name === '')
    throw new CliError(`--input ${given}: must be NAME=FILE.npz, or NAME=FILE.npz:ARRAY.`, exitCodes.usage);
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

interface NamedImage {
  /** Input that takes it; undefined for the only one that takes pictures. */
  name: string | undefined;
  file: string;
  picture: Picture;
}

/** Read `photo.png`, or `name=photo.png`. */
async function namedImage(folder: string, given: string): Promise<NamedImage> {
  const [, name, file = given] = /^([^=/.]+)=(.+)$/.exec(given) ?? [];
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
  if (datatype === 'BOOL') return values.map((one) => one !== 0);
  // JSON has no integers of 64 bits.
  return values.map((one) =>
    typeof one === 'bigint' && !Number.isSafeInteger(Number(one)) ? String(one) : Number(one),
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
    const texts = values.map((one) =>
      typeof one === 'number' ? String(Number(one.toPrecision(6))) : String(one),
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
        brief: 'An input and the npz file with its values; :ARRAY after the file chooses an array',
        optional: true,
      },
      image: {
        kind: 'parsed',
        parse: String,
        placeholder: 'FILE',
        brief: 'A PNG or JPEG file, scaled to the input that takes pictures; NAME=FILE chooses the input',
        optional: true,
      },
      version: {
        kind: 'parsed',
        parse: String,
        placeholder: 'ID',
        brief: 'Version or alias to ask',
        optional: true,
      },
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
  mps infer digits --image photo.png
  mps infer digits --input x=digits-test.npz:x --version champion --json`,
  },
});
