import type { InferenceSession, Tensor as RuntimeTensor } from 'onnxruntime-node';
import { runtimeReason, silentRuntime } from '../../onnx/measure/session/session.ts';
import { type Datatype, elementsOf, packBytes, type RawTensor, unpackBytes } from '../protocol/datatypes.ts';
import { FrameInput, SessionTask, writeFrame } from './frames.ts';

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
        const feeds = feedsOf(task.inputs, frame.body, Tensor);
        const results = tensorsOf(await session.run(feeds, task.outputs));
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
type RunTask = Extract<SessionTask, { kind: 'run' }>;

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
