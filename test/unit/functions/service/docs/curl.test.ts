import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { ApiOperation, ApiParameter } from '../../../../../functions/service/docs/api-document.ts';
import { curlCommand } from '../../../../../functions/service/docs/curl.ts';

const parameter = (
  place: ApiParameter['in'],
  name: string,
  example: unknown,
  required = true,
): ApiParameter => ({
  name,
  in: place,
  required,
  schema: {},
  example,
});

const bare: ApiOperation = {
  operationId: 'x',
  tags: [],
  summary: '',
  description: '',
  parameters: [],
  responses: {},
  security: [{ bearer: [] }],
};

/** The words that a shell makes of a command. */
async function words(command: string): Promise<string[]> {
  const script = `curl() { printf '%s\\0' "$@"; }; BASE=http://h TOKEN=t; ${command}`;
  const { stdout } = await promisify(execFile)('sh', ['-c', script]);
  return stdout.split('\0').slice(0, -1);
}

const token = ['-H', 'Authorization: Bearer t'];

test('a read needs only the address and the token', async () => {
  const operation = {
    ...bare,
    parameters: [parameter('path', 'id', 'a b'), parameter('query', 'limit', 5, false)],
  };
  expect(await words(curlCommand('GET', '/things/{id}', operation))).toEqual([
    'http://h/things/a%20b',
    ...token,
  ]);
});

test('no token where nobody needs one', async () => {
  const operation = { ...bare, security: [{}, { bearer: [] }] };
  expect(await words(curlCommand('GET', '/health', operation))).toEqual(['http://h/health']);
});

test('required parameters of the query go through the shell as they are', async () => {
  const hostile = `it's "$(id)" \`id\` \\ & ; \n!`;
  const operation = { ...bare, parameters: [parameter('query', 'name', hostile)] };
  expect(await words(curlCommand('POST', '/things/', operation))).toEqual([
    '-G',
    '-X',
    'POST',
    'http://h/things/',
    ...token,
    '--data-urlencode',
    `name=${hostile}`,
  ]);
});

test('a body of fields is sent as JSON, a file from the disk', async () => {
  const json = { ...bare, requestBody: { content: { 'application/json': { example: { name: "it's" } } } } };
  expect((await words(curlCommand('PATCH', '/', json))).slice(-4)).toEqual([
    '-H',
    'Content-Type: application/json',
    '-d',
    '{\n  "name": "it\'s"\n}',
  ]);
  const file = { ...bare, requestBody: { content: { 'image/png': {} } } };
  expect((await words(curlCommand('PUT', '/', file))).slice(-3)).toEqual([
    'Content-Type: image/png',
    '--data-binary',
    '@file',
  ]);
});

test('a redirect is followed to a file, and slashes in a path stay', async () => {
  const operation = { ...bare, parameters: [parameter('path', 'path', 'a/b.bin')], responses: { 302: {} } };
  expect(await words(curlCommand('GET', '/files/{path}', operation))).toEqual([
    'http://h/files/a/b.bin',
    ...token,
    '-L',
    '-O',
  ]);
});
