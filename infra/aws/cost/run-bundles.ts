import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { servedMethods } from '../../../shared/http/definition/request-method.ts';
import type { JsonSchema } from '../../../shared/http/openapi/json-schema.ts';
import type { Event, Result } from '../../../shared/http/pipeline/proxy-event.ts';
import { makeProxyEvent } from '../../local/gateway/make-proxy-event.ts';
import { samples } from '../../service/document-samples.ts';
import { loadEndpoints } from '../../service/endpoints.ts';
import { serviceDocument } from '../../service/openapi-document.ts';
import { encodedPath, routeOf, variablesOf } from '../../service/routes.ts';

/**
 * Send each bundle of a folder one valid request, like API Gateway, EventBridge and IAM, on the emulators of the
 * environment. The tables must be new.
 *
 * @param root folder of the project
 * @param folder folder of the bundles: those of events, of operations that create resources for others, and any
 * more
 * @param onAnswer receives each response
 * @param begins is called at the start of each reported request
 */
export async function runBundles(
  root: string,
  folder: string,
  onAnswer: (answer: BundleAnswer) => void,
  begins: () => void = () => {},
): Promise<void> {
  const loaded = await loadEndpoints(join(root, 'functions'));
  const document = serviceDocument(loaded);
  const bundled = await readdir(folder);
  const endpoints = loaded
    .map(({ endpoint }) => endpoint)
    .filter(({ name }) => bundled.includes(name))
    .sort((a, b) => place(a) - place(b));
  let facts = givenFacts;
  let token = '';

  const bundleOf = async (name: string): Promise<Invoke> =>
    (await import(pathToFileURL(join(folder, name, 'index.mjs')).href)).handler;
  const invoke = async (name: string, event: unknown, warm: unknown): Promise<unknown> => {
    const handler = await bundleOf(name);
    // The function refuses this request, but only after it has opened its clients and connections.
    if (warm !== undefined) await handler(warm, {});
    begins();
    const started = performance.now();
    const answer = await handler(event, {});
    const milliseconds = performance.now() - started;
    const result = warm === undefined ? undefined : requireResult(answer);
    const detail = result === undefined ? undefined : answerOf(result).detail;
    onAnswer({
      name,
      status: result?.statusCode ?? 200,
      milliseconds,
      ...(detail !== undefined && { detail }),
    });
    return answer;
  };

  await invoke('createFirstAdmin', { password }, undefined);
  for (const endpoint of endpoints) {
    const { name, method, path } = endpoint;
    const signsIn = name === 'createToken';
    const operation = document.paths[path.replace('+}', '}')]?.[method.toLowerCase()] ?? {};
    const event = (bearer: string): Event =>
      requestFor(endpoint, operation, signsIn ? { ...facts, username: 'admin' } : facts, bearer);
    const result = requireResult(await invoke(name, event(signsIn ? '' : token), event('none.none')));
    if (result.statusCode >= 300) continue;
    const json = answerOf(result);
    const learnt = (made[name] ?? []).map((field) => [field, String(json[field])]);
    facts = { ...facts, ...Object.fromEntries(learnt) };
    if (signsIn) token = json.access_token;
    if (name === 'trainProject') facts = { ...facts, experiments: json.experiment_id };
    if (name === 'requestSourceUpload') await upload(json, source);
    if (name === 'createModel') await upload(json, model);
  }
  const [endpoint] = endpoints;
  if (endpoint === undefined) throw new Error('there are no endpoints');
  const trace = { ...requestFor(endpoint, {}, facts, ''), httpMethod: 'TRACE' };
  await invoke('anyMethod', trace, trace);
  for (const name of ['backgroundPass', 'archive', 'notify', 'schedules'])
    await invoke(name, undefined, undefined);
  const foreign = { jobId: 'x', jobName: 'foreign', status: 'RUNNING' };
  await invoke('jobStateChanged', { detail: foreign }, undefined);
}

/** Response of a function's bundle. */
interface BundleAnswer {
  name: string;
  status: number;
  /** Detail of a problem response. */
  detail?: string;
  /** Duration of the single request in a warm process. */
  milliseconds: number;
}

const place = ({ name }: AnyEndpoint): number =>
  makers.includes(name) ? makers.indexOf(name) - 100 : last.includes(name) ? 100 + last.indexOf(name) : 0;

/** Operations that create resources for others run first, those that remove them last. */
export const makers = [
  'createToken',
  'createUser',
  'createProject',
  'putConfig',
  'requestSourceUpload',
  'putSource',
  'putEnvironment',
  'trainProject',
  'createSweep',
  'createSchedule',
  'createLink',
  'putVariable',
  'putHook',
  'testHook',
  'putMember',
  'createModel',
  'putModel',
  'putServing',
];

const last = [
  'deleteSchedule',
  'deleteLink',
  'deleteHook',
  'deleteSweep',
  'deleteConfig',
  'deleteExperiment',
  'deleteProject',
  'deleteProfilePicture',
  'deleteServing',
  'deleteModel',
  'deleteUser',
  'revokeToken',
  'deleteToken',
];

const password = 'a long sentence nobody guesses';

/** Return the first bytes of an archive of one empty file. */
function archive(): Buffer {
  const block = Buffer.alloc(1536);
  block.write('train.py');
  block.write('0000644\0 0000000\0 0000000\0 00000000000\0'.replaceAll(' ', ''), 100);
  block.write('        0ustar', 148);
  const sum = block.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return gzipSync(block);
}

const source = archive();

/** A model that returns its input. */
const model = Buffer.from(
  'CAgSADo3ChAKAXgSAXkiCElkZW50aXR5EgFnWg8KAXgSCgoICAESBAoCCAFiDwoBeRIKCggIARIECgIIAUIECgAQEQ==',
  'base64',
);

const digestOf = (bytes: Buffer) => ({
  sha256: createHash('sha256').update(bytes).digest('hex'),
  size: String(bytes.length),
});

const givenFacts: Facts = {
  password,
  username: 'ada',
  'project-name': 'Bundles',
  env_type: 'system',
  dependencies: 'none',
  entry_point_command: 'true',
  ...digestOf(source),
  grant_type: 'password',
  mlflow_path: 'version',
  v2_path: 'models/digits.onnx',
  model_name: 'digits.onnx',
  // Value of a variable.
  value: 'long enough to be masked',
};

/** Ids of existing resources by parameter name. */
type Facts = Readonly<Record<string, string>>;

type Invoke = (event: unknown, context?: unknown) => Promise<unknown>;

/** Check that the response of a function is valid for API Gateway. */
function requireResult(answer: unknown): Result {
  const isResult = typeof answer === 'object' && answer !== null && 'statusCode' in answer;
  if (!isResult) throw new TypeError('a function returned no result');
  return answer as Result;
}

function answerOf(result: Result) {
  const type = String(result.headers?.['Content-Type'] ?? '');
  const text = Buffer.from(result.body, result.isBase64Encoded === true ? 'base64' : 'utf8').toString('utf8');
  return type.includes('json') ? JSON.parse(text) : {};
}

/** Make the REST proxy event of an operation's request from its examples, with the ids of existing resources. */
function requestFor(endpoint: AnyEndpoint, operation: Operation, facts: Facts, token: string): Event {
  const value = (name: string, example: unknown) => facts[name] ?? String(example ?? 'x');
  const parameters = operation.parameters ?? [];
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required === true)
    .map(({ name, example }): [string, string] => [name, value(name, example)]);
  // Either an upload or an artifact, so neither is required.
  if (endpoint.name === 'createModel') query.push(...Object.entries(digestOf(model)));
  const inPath = variablesOf(endpoint.path).map((name) => {
    const parameter = parameters.find((one) => one.in === 'path' && one.name === name);
    return [name, value(name, parameter?.example)] as const;
  });
  const encoded = encodedPath(endpoint, Object.fromEntries(inPath));
  const body = bodyOf(endpoint, operation, facts);
  return makeProxyEvent(
    {
      method: servedMethods(endpoint.method).includes('GET') ? 'GET' : endpoint.method,
      path: encoded.path,
      query: new URLSearchParams(query).toString(),
      headers: [
        ...(token === '' ? [] : [['Authorization', `Bearer ${token}`] as const]),
        ['Accept', '*/*'],
        ...(body === undefined ? [] : [['Content-Type', body.type] as const]),
      ],
      body: body?.bytes ?? new Uint8Array(),
      sourceIp: '192.0.2.1',
    },
    routeOf(endpoint).resource,
    encoded.parameters,
  );
}

/** The parts of an OpenAPI operation that requests are made from. */
interface Operation {
  parameters?: { name: string; in: string; required?: boolean; example?: unknown; schema: JsonSchema }[];
  requestBody?: {
    required?: boolean;
    content: Record<string, { schema?: JsonSchema; example?: Record<string, unknown> }>;
  };
}

/** A red square. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC',
  'base64',
);

function bodyOf(
  { name }: AnyEndpoint,
  { requestBody }: Operation,
  facts: Facts,
): { type: string; bytes: Uint8Array } | undefined {
  const types = Object.entries(requestBody?.content ?? {});
  const json = types.find(([type]) => type === 'application/json');
  if (json !== undefined) {
    const given = Object.entries(json[1].example ?? {}).map(([field, value]) => [
      field,
      facts[field] ?? value,
    ]);
    // Lists of an example name its experiment, too.
    const text = JSON.stringify(Object.fromEntries(given)).replaceAll(
      String(samples['experiment_id']),
      facts['experiment_id'] ?? '',
    );
    const bytes = Buffer.from(text);
    return { type: 'application/json', bytes };
  }
  const [type] = types.map(([one]) => one);
  if (type === undefined) return undefined;
  return {
    type,
    bytes: name === 'putProfilePicture' ? picture : Buffer.from('epochs: 3\nlearning_rate: 0.01\n'),
  };
}

/** Response fields with the ids of created resources, by operation. */
const made: Readonly<Record<string, readonly string[]>> = {
  testHook: ['delivery_id'],
  createUser: ['user_id'],
  createProject: ['project_id'],
  trainProject: ['experiment_id'],
  createSweep: ['sweep_id'],
  createSchedule: ['schedule_id'],
  createLink: ['link_id'],
  createNamedToken: ['token_id'],
};

async function upload({ upload: { url, method, headers } }: UploadAnswer, body: Buffer): Promise<void> {
  const { 'content-length': _, ...sent } = headers;
  await fetch(url, { method, headers: sent, body });
}

interface UploadAnswer {
  upload: { url: string; method: string; headers: Record<string, string> };
}
