import { resolve } from 'node:path';
import { givenPath } from '../../../shared/bundle/given-path.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { CommandError } from '../../command/command-error.ts';
import { readFlags } from '../../command/read-flags.ts';
import { makeProxyEvent } from '../../local/gateway/make-proxy-event.ts';
import { samples } from '../../service/document-samples.ts';
import { encodedPath, routeOf, variablesOf } from '../../service/routes.ts';

export interface SamOptions {
  port: number;
  /** Absolute path of the data folder. */
  dataFolder: string;
  /** Undefined to serve the whole API. */
  invoke: SampleRequest | undefined;
  /** Arguments passed to sam unchanged. */
  more: readonly string[];
}

/** A request to generate an event from. */
export interface SampleRequest {
  operation: string;
  /** Path variables by their published names. Missing ones get a sample. */
  path: Readonly<Record<string, string>>;
  query: string;
  body: string | undefined;
  token: string | undefined;
}

const usage = `Usage: npm run sam -- [--port <port>] [--data <folder>] [-- <options of sam>]
       npm run sam -- invoke <operation> [--path name=value]… [--query <query string>] [--body <text>]
                      [--token <bearer token>] [--data <folder>] [-- <options of sam>]`;

/** @throws CommandError for an unknown or invalid option */
export function readOptions(args: readonly string[]): SamOptions {
  const end = args.indexOf('--');
  const [own, more] = end < 0 ? [args, []] : [args.slice(0, end), args.slice(end + 1)];
  const { values, positionals } = parse(own);
  const [command, operation, ...rest] = positionals;
  if (!/^\d{1,5}$/.test(values.port) || Number(values.port) > 65_535) {
    throw new CommandError(`--port must be a number from 0 to 65535, not "${values.port}".\n${usage}`);
  }
  const common = {
    port: Number(values.port),
    dataFolder: values.data === undefined ? resolve('.data') : givenPath(values.data),
    more,
  };
  if (command === undefined) return { ...common, invoke: undefined };
  if (command !== 'invoke' || operation === undefined || rest.length > 0) throw new CommandError(usage);
  const { query, body, token } = values;
  const path = Object.fromEntries(values.path.map(pairOf));
  return { ...common, invoke: { operation, path, query, body, token } };
}

const parse = (args: readonly string[]) =>
  readFlags(usage, {
    args: [...args],
    allowPositionals: true,
    options: {
      port: { type: 'string', default: '3000' },
      data: { type: 'string' },
      path: { type: 'string', multiple: true, default: [] },
      query: { type: 'string', default: '' },
      body: { type: 'string' },
      token: { type: 'string' },
    },
  });

function pairOf(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new CommandError(`--path takes name=value, not "${text}".\n${usage}`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/**
 * Return the event that API Gateway makes of a request. Missing path variables get the samples of the reference.
 * @throws CommandError for a variable that the path does not have
 */
export function sampleEvent(endpoint: AnyEndpoint, { path, query, body, token }: SampleRequest) {
  const names = variablesOf(endpoint.path);
  const unknown = Object.keys(path).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new CommandError(`${endpoint.path} has no variable ${unknown}.`);
  const values = names.map((name) => [name, path[name] ?? String(samples[name] ?? name)] as const);
  const encoded = encodedPath(endpoint, Object.fromEntries(values));
  return makeProxyEvent(
    {
      method: endpoint.method,
      path: encoded.path,
      query,
      headers: [
        ['Accept', 'application/json'],
        ...(token === undefined ? [] : [['Authorization', `Bearer ${token}`] as const]),
        ...(body === undefined ? [] : [['Content-Type', mediaTypeOf(body)] as const]),
      ],
      body: Buffer.from(body ?? ''),
      sourceIp: '127.0.0.1',
    },
    routeOf(endpoint).resource,
    encoded.parameters,
  );
}

/** Return the media type of a body: JSON if it looks like JSON, otherwise a form, as curl sends it. */
function mediaTypeOf(body: string): string {
  return /^\s*[{[]/.test(body) ? 'application/json' : 'application/x-www-form-urlencoded';
}
