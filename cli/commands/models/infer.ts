import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { NpzFile } from '../../../shared/onnx/model/npz/npz-file.ts';
import { datatypeOf, elementCount } from '../../../shared/serving/protocol/datatypes.ts';
import {
  type Picture,
  pictureValues,
  takesPictures,
} from '../../../shared/serving/protocol/picture-values.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { connect } from '../../login/connect.ts';
import { modelArgument } from '../arguments.ts';
import { command } from '../command.ts';
import { json, parsed, repeated, text } from '../flags.ts';
import { inferImage, inferTexts } from './infer-plainly.ts';
import { outputText } from './output-text.ts';
import { readImage } from './read-image.ts';
import { type Description, type SentTensor, ServedModel } from './served-model.ts';

/** Read `name=file.npz`, `name=file.npz:array`, or `name=file.json`. */
async function readInput(folder: string, given: string, model: ServedModel): Promise<SentTensor> {
  const [, json = '', path = ''] = /^([^=]+)=(.+\.json)$/.exec(given) ?? [];
  if (json !== '')
    return jsonTensor(json, path, await readFile(resolve(folder, path), 'utf8'), await model.describe());
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
function jsonTensor(name: string, file: string, text: string, { inputs }: Description): SentTensor {
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
  model: ServedModel,
  input: readonly string[] = [],
  { name, file, picture }: NamedImage,
): Promise<SentTensor> {
  const { inputs } = await model.describe();
  const given = new Set(input.map((one) => one.split('=')[0]));
  const taking = inputs.filter((one) => takesPictures(one));
  const wanted = taking.filter((one) => (name === undefined ? !given.has(one.name) : one.name === name));
  const [found] = wanted;
  const sent = found && pictureValues(picture, found);
  if (found === undefined || sent === undefined || wanted.length > 1) {
    const names = taking.map((one) => one.name).join(', ') || 'none';
    const detail = `--image ${file}: name the input as NAME=${file}. Inputs of ${model.name} that take a picture: ${names}.`;
    throw new CliError(detail, exitCodes.usage);
  }
  const { datatype } = found;
  return { described: { name: found.name, datatype, ...sent }, bytes: new Uint8Array() };
}

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error('must be a whole number above 0');
  return value;
};

export const inferCommand = command({
  brief: 'Ask a served model',
  help: `Examples:
  mps infer digits --input image=samples.npz
  mps infer digits --input x=digits-test.npz:x --classes 3
  mps infer digits --input x=rows.json
  mps infer digits --image photo.png
  mps infer reviews --text "It works" --text "It does not"
  mps infer digits --input x=digits-test.npz:x --version champion --json`,
  args: [modelArgument],
  flags: {
    input: repeated(
      String,
      'NAME=FILE',
      'An input and the npz or JSON file with its values; :ARRAY after an npz file chooses an array',
    ),
    image: text(
      'FILE',
      'A PNG or JPEG file: as it is for a model with its image processor, else scaled to the input that takes pictures; NAME=FILE chooses the input',
    ),
    text: repeated(String, 'TEXT', 'A text, for a model with its tokenizer; may be repeated'),
    pair: repeated(String, 'TEXT', 'The second text of each --text, for a model of pairs'),
    version: text('ID', 'Version or alias to ask'),
    classes: parsed(whole, 'N', 'Show the best N classes'),
    json,
  },
  async run(flags, name) {
    const { input, image: file, text, pair, version, classes, json: isJson = false } = flags;
    const model = new ServedModel(await connect(this.env), name, version);
    if (text !== undefined || pair !== undefined) {
      if (input !== undefined || file !== undefined || classes !== undefined)
        throw new CliError('--text takes no --input, --image or --classes.', exitCodes.usage);
      return inferTexts(this, model, { text: text ?? [], pair, isJson });
    }
    if (file !== undefined && input === undefined && classes === undefined && !namedFile.test(file)) {
      // A model with its image processor takes the file as it is.
      if ((await model.describe()).parameters?.images) return inferImage(this, model, { file, isJson });
    }
    const tensors = await Promise.all((input ?? []).map((given) => readInput(this.folder, given, model)));
    const image = file === undefined ? undefined : await namedImage(this.folder, file);
    const pictures = image === undefined ? [] : [await pictureTensor(model, input, image)];
    const outputs = await model.infer([...tensors, ...pictures], classes);
    if (isJson) this.printer.json({ model: name, outputs });
    else for (const output of outputs) this.process.stdout.write(`${outputText(output)}\n`);
  },
});
