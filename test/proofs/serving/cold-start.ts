import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { endpoint as createToken } from '../../../functions/auth/create-token.endpoint.ts';
import { endpoint as createModel } from '../../../functions/optimization/models/create-model.endpoint.ts';
import { endpoint as putModel } from '../../../functions/optimization/models/put-model.endpoint.ts';
import { endpoint as putServing } from '../../../functions/optimization/serving/put-serving.endpoint.ts';
import { endpoint as serveModels } from '../../../functions/serving/serve-models.endpoint.ts';
import { bundleFunctions } from '../../../infra/aws/build/function-bundles.ts';
import { addOnnxRuntime } from '../../../infra/aws/build/onnx-runtime.ts';
import { startLocalEmulators } from '../../../infra/aws/cost/local-emulators.ts';
import { readFlags } from '../../../infra/command/read-flags.ts';
import { runMain } from '../../../infra/command/run-main.ts';
import { makeProxyEvent } from '../../../infra/local/gateway/make-proxy-event.ts';
import { encodedPath, routeOf } from '../../../infra/service/routes.ts';
import { createFirstAdmin } from '../../../shared/accounts/first-admin.ts';
import { dynamoDb } from '../../../shared/aws/dynamodb-client.ts';
import { findServing } from '../../../shared/data/models/serving.ts';
import { tableReader } from '../../../shared/data/table/table.ts';
import { tableWriter } from '../../../shared/data/table/table-writer.ts';
import { thisHost } from '../../../shared/host/this-host.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { lambda } from '../../../shared/http/pipeline/lambda.ts';
import type { Event } from '../../../shared/http/pipeline/proxy-event.ts';
import { median } from '../bench/figure.ts';
import { rowOf, squareProducts } from './square-products.ts';

// `npm run proof -- cold-start`: what a request waits for in a new instance of the function that serves models.

const usage = `Usage: npm run proof -- cold-start [-- --rounds <n>] [--freeze <seconds>]
  hands one inference to the deployed bundle of the function that serves models, each time in a new process; weighs one
  after 2,000 requests; freezes one with a warm model by SIGSTOP before each of two requests, and one while it opens the model
  --rounds  new processes for each model; default 7
  --freeze  seconds of a freeze; default 30, more than the time limit of a run`;

const root = join(import.meta.dirname, '../../..');
const password = 'a long sentence nobody guesses';
/** MiB of weights of the models. */
const sizes = [4, 24, 100];

interface Call {
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array;
}

/** Return the event of a request, as API Gateway passes it on. */
function eventOf(
  endpoint: AnyEndpoint,
  method: string,
  { path = {}, query = {}, headers = {}, body = new Uint8Array() }: Call,
): Event {
  const encoded = encodedPath(endpoint, path);
  const request = {
    method,
    path: encoded.path,
    query: new URLSearchParams(query).toString(),
    headers: Object.entries(headers),
    body,
    sourceIp: '192.0.2.1',
  };
  return makeProxyEvent(request, routeOf(endpoint).resource, encoded.parameters);
}

/** Call a function from its source. */
async function call(endpoint: AnyEndpoint, given: Call) {
  const event = eventOf(endpoint, endpoint.method, given);
  // biome-ignore lint/suspicious/noExplicitAny: no function reads its Lambda context
  const { statusCode, body, isBase64Encoded } = await lambda(endpoint)(event, {} as any);
  const text = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8').toString('utf8');
  if (statusCode >= 300) throw new Error(`${endpoint.name} answered ${statusCode}: ${text}`);
  return JSON.parse(text);
}

async function signIn(): Promise<string> {
  const { ACCOUNTS_TABLE = '' } = process.env;
  const accounts = tableWriter(dynamoDb(process.env), 'accounts', ACCOUNTS_TABLE);
  await createFirstAdmin(accounts, password, new Date());
  const { access_token }: { access_token: string } = await call(createToken, {
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: Buffer.from(String(new URLSearchParams({ grant_type: 'password', username: 'admin', password }))),
  });
  return access_token;
}

async function serve(
  model_name: string,
  bytes: Uint8Array,
  headers: Record<string, string>,
  query: Record<string, string> = {},
): Promise<void> {
  const path = { model_name };
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const file = { file: 'model', sha256, size: String(bytes.length) };
  const { upload } = await call(createModel, { path, query: file, headers });
  const { 'content-length': _, ...sent } = upload.headers;
  const answer = await fetch(upload.url, { method: upload.method, headers: sent, body: Buffer.from(bytes) });
  if (!answer.ok) throw new Error(await answer.text());
  await call(putModel, { path, headers });
  await call(putServing, { path, query, headers });
}

function inference(model: string, token: Readonly<Record<string, string>>): Event {
  const { headers, body } = rowOf(0.5);
  const path = { v2_path: `models/${model}/infer` };
  return eventOf(serveModels, 'POST', { path, headers: { ...token, ...headers }, body });
}

/** Bundle the function as a deployment does. */
async function bundle(folder: string): Promise<string> {
  const { name, runtime } = serveModels;
  const { native = [], programs = {} } = runtime ?? {};
  const file = runtime?.start ?? 'functions/serving/serve-models.endpoint.ts';
  const [made] = await bundleFunctions(root, folder, [{ name, file, native, programs }], {});
  if (made === undefined) throw new Error('there is no bundle');
  await addOnnxRuntime(root, made.folder);
  return made.folder;
}

/** A process and those that it started, which may have groups of their own. */
async function familyOf(pid: number): Promise<number[]> {
  const entries = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(
    entries.map(async (one) => {
      const text = await readFile(`/proc/${one}/stat`, 'utf8').catch(() => '');
      return { one, parent: Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]) };
    }),
  );
  const children = parents.filter(({ parent }) => parent === pid);
  return [pid, ...(await Promise.all(children.map(({ one }) => familyOf(one)))).flat()];
}

/** An instance of the function that answers an event whenever it is told to. */
function spawnInstance(code: string, event: string, env: Record<string, string>) {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'frozen-event.mjs'), join(code, 'index.mjs'), event],
    { env, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await lines.next()).value));
  return {
    /** Resolves to the milliseconds that it took. */
    load: async (): Promise<number> => (await next()).loaded,
    family: () => familyOf(child.pid ?? 0),
    async ask(what: string): Promise<number> {
      child.stdin.write('go\n');
      const { statusCode, milliseconds }: { statusCode: number; milliseconds: number } = await next();
      if (statusCode !== 200) throw new Error(`${what} was ${statusCode}`);
      return milliseconds;
    },
    end: () => child.stdin.end(),
  };
}

type Instance = ReturnType<typeof spawnInstance>;

/** Freeze an instance for some time, as Lambda does. @returns its processes */
async function freeze(instance: Instance, seconds: number): Promise<number[]> {
  const family = await instance.family();
  for (const pid of family) process.kill(pid, 'SIGSTOP');
  await delay(seconds * 1000);
  for (const pid of family) process.kill(pid, 'SIGCONT');
  return family;
}

/** Freeze an instance with a warm model before each of its two requests, and another one while it opens the model. */
async function freezeWarm(
  code: string,
  event: string,
  env: Record<string, string>,
  seconds: number,
): Promise<void> {
  const instance = spawnInstance(code, event, env);
  const loaded = await instance.load();
  const family = await instance.family();
  process.stdout.write(
    `frozen: loaded with the warm model in ${loaded.toFixed(0)} ms, ${family.length} processes\n`,
  );
  for (const request of ['first', 'second']) {
    await freeze(instance, seconds);
    const milliseconds = await instance.ask(`the ${request} answer after a freeze`);
    process.stdout.write(`  ${request} answer after ${seconds} s: ${milliseconds.toFixed(0)} ms\n`);
  }
  const survived = await instance.family();
  if (String(survived) !== String(family))
    throw new Error(`processes ${family.join(', ')} became ${survived.join(', ')}`);
  instance.end();

  const opening = spawnInstance(code, event, env);
  while ((await opening.family()).length < family.length) await delay(10);
  const frozen = await freeze(opening, seconds);
  await opening.load();
  const milliseconds = await opening.ask(
    'the answer of an instance that was frozen while it opened its model',
  );
  const kept = (await opening.family()).filter((pid) => frozen.includes(pid));
  if (kept.length < family.length) throw new Error(`of ${family.length} processes ${kept.length} survived`);
  process.stdout.write(
    `  frozen for ${seconds} s while it opened the model: answer after ${milliseconds.toFixed(0)} ms\n`,
  );
  opening.end();
}

/** Print the crashes that are counted for a model. @throws Error if there are any */
async function countCrashes(model: string): Promise<void> {
  const { RECORDS_TABLE = '' } = process.env;
  const serving = await findServing(tableReader(dynamoDb(process.env), 'records', RECORDS_TABLE), model);
  const crashes = Object.values(serving?.versions ?? {}).map((version) => version.crashes);
  process.stdout.write(`  the same processes answered; crashes counted: ${crashes.join(', ')}\n`);
  if (crashes.length !== 1 || crashes[0] !== 0) throw new Error('a freeze counts as a crash');
}

/** Print the memory of an instance and its process of a model, after many requests. */
async function weigh(code: string, event: string, env: Record<string, string>) {
  const instance = spawnInstance(code, event, env);
  await instance.load();
  for (let count = 0; count < weighedRequests; count += 1) await instance.ask('an answer');
  const family = await instance.family();
  const mebibytes = await Promise.all(
    family.map(async (pid) => Math.round((await thisHost.proportionalBytes([pid])) / 2 ** 20)),
  );
  const sum = mebibytes.reduce((all, one) => all + one, 0);
  process.stdout.write(
    `memory after ${weighedRequests} requests: ${sum} MiB (processes of ${mebibytes.join(', ')} MiB)\n`,
  );
  instance.end();
}

const weighedRequests = 2_000;

async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const found = await Promise.all(files.map(({ parentPath, name }) => stat(join(parentPath, name))));
  return found.reduce((sum, { size }) => sum + size, 0);
}

async function main(): Promise<number> {
  const { values } = readFlags(usage, {
    options: { rounds: { type: 'string' }, freeze: { type: 'string' } },
  });
  const rounds = Number(values.rounds ?? 7);
  const folder = await mkdtemp(join(tmpdir(), 'cold-start-'));
  try {
    await using emulators = await startLocalEmulators();
    const settings = { LIMIT_SERVING_MEMORY: '3008', LIMIT_SERVING_DISK: '4096' };
    Object.assign(process.env, emulators.environment, settings);
    const code = await bundle(join(folder, 'functions'));
    process.stdout.write(
      `asset ${((await bytesBelow(code)) / 1e6).toFixed(1)} MB, ${availableParallelism()} cores\n`,
    );
    process.stdout.write('model | loaded | first answer | slowest of it | second answer\n');
    const headers = { Authorization: `Bearer ${await signIn()}` };
    const env = {
      ...emulators.environment,
      ...settings,
      SERVING_PROGRAM: join(code, 'session-program.mjs'),
      NODE_DISABLE_COMPILE_CACHE: '1',
    };
    for (const size of sizes) {
      const model = `of-${size}-mebibytes`;
      await serve(model, squareProducts(size), headers);
      const event = join(folder, `${model}.json`);
      await writeFile(event, JSON.stringify(inference(model, headers)));
      const found: Cold[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const { stdout } = await promisify(execFile)(
          process.execPath,
          [join(import.meta.dirname, 'cold-event.mjs'), join(code, 'index.mjs'), event],
          { env },
        );
        const cold: Cold = JSON.parse(stdout);
        if (cold.statusCode !== 200) throw new Error(`the answer was ${cold.statusCode}`);
        found.push(cold);
      }
      const answered = found.map((one) => one.answered);
      const figures = [
        median(found.map(({ loaded }) => loaded)),
        median(answered),
        Math.max(...answered),
        median(found.map(({ again }) => again)),
      ];
      process.stdout.write(`${size} MiB | ${figures.map((value) => `${value.toFixed(0)} ms`).join(' | ')}\n`);
    }
    await weigh(code, join(folder, `of-${sizes[0]}-mebibytes.json`), env);
    await serve('warm', squareProducts(24), headers, { warm: 'true' });
    const event = join(folder, 'warm.json');
    await writeFile(event, JSON.stringify(inference('warm', headers)));
    await freezeWarm(code, event, env, Number(values.freeze ?? 30));
    await countCrashes('warm');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return 0;
}

/** Milliseconds from the start of Node; `again` from the first answer. */
interface Cold {
  statusCode: number;
  loaded: number;
  answered: number;
  again: number;
}

await runMain(main);
