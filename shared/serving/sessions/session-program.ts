import { dirname } from 'node:path';
import type { InferenceSession, Tensor as RuntimeTensor } from 'onnxruntime-node';
import type { ImageSettings } from '../../data/models/image-settings.ts';
import type { TextSettings } from '../../data/models/text-settings.ts';
import { runtimeReason, silentRuntime } from '../../onnx/measure/session/session.ts';
import type { Numbers } from '../protocol/answer-tensors.ts';
import { type Datatype, elementsOf, packBytes, type RawTensor, unpackBytes } from '../protocol/datatypes.ts';
import { FrameInput, type RunTask, SessionTask, writeFrame } from './frames.ts';

/**
 * The process of one session. Native code may crash or hang in it, and only the requests to its model notice. It reads
 * and writes synchronously, because ONNX Runtime blocks the thread anyway.
 */
async function serve(): Promise<void> {
  const { InferenceSession: sessions, Tensor } = await silentRuntime();
  let session: InferenceSession | undefined;
  let path = '';
  for (;;) {
    const frame = input.next();
    if (frame === undefined) return;
    const task = SessionTask.parse(frame.header);
    try {
      if (task.kind === 'open') {
        path = task.path;
        session = await sessions.create(path, {
          executionProviders: ['cpu'],
          // One thread: answers do not depend on the machine, and a laptop stays usable.
          intraOpNumThreads: 1,
          interOpNumThreads: 1,
          executionMode: 'sequential',
          graphOptimizationLevel: 'all',
          logSeverityLevel: 3,
        });
        writeFrame(output, { outputs: [] });
      } else {
        if (session === undefined) throw new Error('no model is open');
        const results =
          task.texts !== undefined
            ? await answerTexts(task, task.texts, frame.body, { session, Tensor, path })
            : task.images !== undefined
              ? await answerImages(task, task.images, frame.body, { session, Tensor, path })
              : tensorsOf(await session.run(feedsOf(task.inputs, frame.body, Tensor), task.outputs));
        const described = results.map(({ bytes, ...tensor }) => ({ ...tensor, bytes: bytes.length }));
        writeFrame(
          output,
          { outputs: described },
          results.map(({ bytes }) => bytes),
        );
      }
    } catch (cause) {
      writeFrame(output, { fault: runtimeReason(cause, path) });
    }
  }
}

const input = new FrameInput(0);
const output = 3;

type MakeTensor = typeof RuntimeTensor;

interface Opened {
  session: InferenceSession;
  Tensor: MakeTensor;
  path: string;
}

type TextTask = RunTask & { texts: TextSettings };

let opened: Promise<(task: TextTask, body: Uint8Array) => Promise<RawTensor[]>> | undefined;

/** Answer texts. The tokenizer is opened for the first of them: who asks by tensors does not pay for it. */
async function answerTexts(
  task: RunTask,
  texts: TextSettings,
  body: Uint8Array,
  { session, Tensor, path }: Opened,
): Promise<RawTensor[]> {
  opened ??= import('./session-texts.ts').then(({ openTexts }) =>
    openTexts(dirname(path), {
      inputs: session.inputNames,
      async run(feeds, shape) {
        const tensors = [...feeds].map(([name, values]) => {
          const metadata = session.inputMetadata.find((input) => input.name === name);
          const isShort = metadata?.isTensor === true && metadata.type === 'int32';
          return [name, wholeNumbers(values, shape, isShort, Tensor)] as const;
        });
        return numbersOf(session, Object.fromEntries(tensors), texts.output);
      },
    }),
  );
  return (await opened)({ ...task, texts }, body);
}

/** Answer pictures. The codec is loaded for the first of them. */
async function answerImages(
  { inputs }: RunTask,
  settings: ImageSettings,
  body: Uint8Array,
  { session, Tensor, path }: Opened,
): Promise<RawTensor[]> {
  const { answerFiles } = await import('./session-images.ts');
  return answerFiles(dirname(path), body.subarray(0, inputs[0]?.bytes ?? 0), settings, ({ shape, values }) =>
    numbersOf(session, { [settings.input]: new Tensor('float32', values, [1, ...shape]) }, settings.output),
  );
}

/** Run the model for the numbers of one output. */
async function numbersOf(
  session: InferenceSession,
  feeds: Readonly<Record<string, RuntimeTensor>>,
  output: string,
): Promise<Numbers> {
  const [result] = tensorsOf(await session.run({ ...feeds }, [output]));
  if (result === undefined) throw new Error(`there is no output ${output}`);
  return { shape: result.shape, values: Float32Array.from(elementsOf(result), Number) };
}

const wholeNumbers = (
  values: readonly number[],
  shape: readonly number[],
  isShort: boolean,
  Tensor: MakeTensor,
): RuntimeTensor =>
  isShort
    ? new Tensor('int32', Int32Array.from(values), shape)
    : new Tensor('int64', BigInt64Array.from(values, BigInt), shape);

function feedsOf(
  inputs: RunTask['inputs'],
  body: Uint8Array,
  Tensor: MakeTensor,
): Record<string, RuntimeTensor> {
  let at = 0;
  return Object.fromEntries(
    inputs.map(({ name, datatype, shape, bytes: length }) => {
      const bytes = body.subarray(at, at + length);
      at += length;
      return [name, tensorOf({ name, datatype, shape, bytes }, Tensor)];
    }),
  );
}

const utf8 = new TextDecoder();

function tensorOf({ datatype, shape, bytes }: RawTensor, Tensor: MakeTensor): RuntimeTensor {
  if (datatype === 'BYTES') {
    const texts = (unpackBytes(bytes) ?? []).map((element) => utf8.decode(element));
    return new Tensor('string', texts, shape);
  }
  const elements = elementsOf({ datatype, bytes });
  const type = runtimeTypes[datatype];
  if (!(elements instanceof Float16Array)) return new Tensor(type, elements, shape);
  const half = new Uint16Array(elements.buffer, elements.byteOffset, elements.length);
  const tensor = new Tensor(type, half, shape);
  // The runtime's JavaScript makes a Float16Array of half precision. Its native part sees none of those bytes.
  Reflect.set(tensor, 'cpuData', half);
  return tensor;
}

const runtimeTypes = {
  BOOL: 'bool',
  UINT8: 'uint8',
  UINT16: 'uint16',
  UINT32: 'uint32',
  UINT64: 'uint64',
  INT8: 'int8',
  INT16: 'int16',
  INT32: 'int32',
  INT64: 'int64',
  FP16: 'float16',
  FP32: 'float32',
  FP64: 'float64',
  BYTES: 'string',
} as const satisfies Record<Datatype, string>;

const datatypes = new Map<string, Datatype>(
  (Object.entries(runtimeTypes) as [Datatype, string][]).map(([datatype, type]) => [type, datatype]),
);

function tensorsOf(results: InferenceSession.OnnxValueMapType): RawTensor[] {
  return Object.entries(results).map(([name, { type, dims, data }]) => {
    const datatype = datatypes.get(type);
    if (datatype === undefined) throw new Error(`the output ${JSON.stringify(name)} is of type ${type}`);
    if (Array.isArray(data)) {
      return { name, datatype, shape: dims, bytes: packBytes(data.map((text) => Buffer.from(String(text)))) };
    }
    return {
      name,
      datatype,
      shape: dims,
      bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
    };
  });
}

await serve();
// Threads of ONNX Runtime may keep a process from exiting.
process.kill(process.pid, 'SIGKILL');
