import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { thisHost } from '../../../shared/host/this-host.ts';
import { descendants } from '../bench/descendants.ts';
import { median } from '../bench/figure.ts';
import { type Asked, type Load, measureLoad } from './load.ts';
import { startMlserver } from './mlserver.ts';

interface Place {
  url: string;
  /** Process of the service. */
  pid: number;
  token: string;
  /** Path of the model that `bench_model.py` writes; the service has it as `bench`. */
  bench: string;
  /** Python with MLServer. */
  python: string;
  /** Folder for MLServer. */
  folder: string;
  /** Seconds of each measurement. */
  seconds: number;
}

/** Most that a request may cost as a multiple of MLServer's with JSON, which has no binary tensors over HTTP. */
const bounds = { json: { cpu: 1.5, p50: 1 }, binary: { cpu: 1, p50: 1 } } as const;

const rounds = 3;

/** Measure requests to the bench model beside MLServer, in turns. Return whether all bounds are met. */
export async function measureFigures({ url, pid, token, bench, python, folder, seconds }: Place) {
  const bare = await bareMilliseconds(bench);
  process.stdout.write(`onnxruntime-node in one process: ${bare.toFixed(2)} ms\n`);
  const mlserver = await startMlserver(python, join(folder, 'mlserver'), bench, jsonBody);
  try {
    const ours = `${url}/v2/models/bench/infer`;
    const signed = { Authorization: `Bearer ${token}` };
    const sides = [
      { name: 'MLServer, JSON', pid: mlserver.pid, asked: json(mlserver.url, {}) },
      { name: 'here, signed in, JSON', pid, asked: json(ours, signed) },
      { name: 'here, signed in, binary', pid, asked: binary(ours, signed) },
    ].map((side) => ({ ...side, one: [] as Load[], sixteen: [] as Load[] }));
    for (const { asked, pid: server } of sides) await measureLoad(asked, 4, 2, server);
    for (let round = 0; round < rounds; round += 1)
      for (const { asked, pid: server, one, sixteen } of sides) {
        one.push(await measureLoad(asked, 1, seconds, server));
        sixteen.push(await measureLoad(asked, 16, seconds, server));
      }
    const rows = sides.map(({ name, one, sixteen }) => ({
      name,
      one: median(one.map(({ p50 }) => p50)),
      sixteen: median(sixteen.map(({ p50 }) => p50)),
      perSecond: median(sixteen.map(({ perSecond }) => perSecond)),
      cpuOne: median(one.map(({ cpu }) => cpu)),
      cpu: median(sixteen.map(({ cpu }) => cpu)),
      failed: [...one, ...sixteen].reduce((sum, { failed }) => sum + failed, 0),
    }));
    process.stdout.write(
      'server | p50, 1 client | p50, 16 clients | requests/s | CPU, 1 | CPU, 16 | failed\n',
    );
    for (const { name, one, sixteen, perSecond, cpuOne, cpu, failed } of rows)
      process.stdout.write(
        `${name} | ${[one, sixteen].map((value) => `${value.toFixed(2)} ms`).join(' | ')} | ${Math.round(perSecond)} | ${cpuOne.toFixed(2)} ms | ${cpu.toFixed(2)} ms | ${failed}\n`,
      );
    process.stdout.write(`memory of MLServer: ${await mebibytesOf(mlserver.pid)} MiB\n`);
    process.stdout.write(`memory of the whole service with its emulators: ${await mebibytesOf(pid)} MiB\n`);
    const [theirs, ...own] = rows;
    if (theirs === undefined) return false;
    const judged = own.flatMap((row) => {
      const bound = row.name.endsWith('JSON') ? bounds.json : bounds.binary;
      return [
        { what: `${row.name}: CPU of a request`, ratio: row.cpu / theirs.cpu, most: bound.cpu },
        { what: `${row.name}: p50 of one client`, ratio: row.one / theirs.one, most: bound.p50 },
        { what: `${row.name}: p50 of sixteen`, ratio: row.sixteen / theirs.sixteen, most: bound.p50 },
      ];
    });
    for (const { what, ratio, most } of judged)
      process.stdout.write(
        `${what}: ${ratio.toFixed(2)} × MLServer's, wanted ${most}${ratio > most ? ' MISSED' : ''}\n`,
      );
    return judged.every(({ ratio, most }) => ratio <= most) && rows.every(({ failed }) => failed === 0);
  } finally {
    await mlserver.end();
  }
}

/** Values of float32, as a client has them: with all digits as JSON. */
const values = new Float32Array(4096).map((_, index) => Math.sin(index));
const pixels = new Uint8Array(values.buffer);
const described = { name: 'x', shape: [1, 4096], datatype: 'FP32' };
const jsonBody = Buffer.from(JSON.stringify({ inputs: [{ ...described, data: Array.from(values) }] }));

const json = (url: string, headers: Asked['headers']): Asked => ({
  url,
  headers: { ...headers, 'Content-Type': 'application/json' },
  body: jsonBody,
});

function binary(url: string, headers: Asked['headers']): Asked {
  const head = Buffer.from(
    JSON.stringify({
      inputs: [{ ...described, parameters: { binary_data_size: pixels.length } }],
      parameters: { binary_data_output: true },
    }),
  );
  return {
    url,
    headers: {
      ...headers,
      'Content-Type': 'application/octet-stream',
      'Inference-Header-Content-Length': String(head.length),
    },
    body: Buffer.concat([head, pixels]),
  };
}

/** Milliseconds of a run in this process. */
async function bareMilliseconds(path: string): Promise<number> {
  const session = await InferenceSession.create(path, { intraOpNumThreads: 1, interOpNumThreads: 1 });
  const x = new Tensor('float32', values, [1, 4096]);
  const times: number[] = [];
  for (let count = 0; count < 500; count += 1) {
    const started = performance.now();
    await session.run({ x });
    times.push(performance.now() - started);
  }
  return median(times);
}

/** MiB of a process and all that it has started. */
const mebibytesOf = async (pid: number): Promise<number> =>
  Math.round((await thisHost.proportionalBytes(await descendants(pid))) / 2 ** 20);
