import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runMps } from '../../support/mps.ts';
import { json, served } from '../client/served.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-infer-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Ask a model with one input x of two columns. Return the tensor that it got. */
async function asked(text: string) {
  await writeFile(join(folder, 'rows.json'), text);
  const { url, received } = await served((response, request) =>
    json(
      request.method === 'GET'
        ? { inputs: [{ name: 'x', datatype: 'FP32', shape: [-1, 2] }] }
        : { outputs: [] },
    )(response, request),
  );
  const environment = { MPS_URL: url, MPS_TOKEN: 'a' };
  const ended = await runMps(['infer', 'digits', '--input', 'x=rows.json'], {
    folder,
    home: folder,
    environment,
  });
  const sent = received.find(({ method }) => method === 'POST');
  return { ...ended, inputs: sent === undefined ? undefined : JSON.parse(String(sent.body)).inputs };
}

test.each([
  ['[[1, 2.5], [3, 4]]', [2, 2], [1, 2.5, 3, 4]],
  ['[1, 2]', [1, 2], [1, 2]],
])('mps infer sends the rows of JSON %s', async (text, shape, data) => {
  const { code, stderr, inputs } = await asked(text);

  expect(code, stderr).toBe(0);
  expect(inputs).toEqual([{ name: 'x', datatype: 'FP32', shape, data }]);
});

test.each([
  ['[[1, 2], [3]]', 'lists of one level must have the same length'],
  ['[1,', 'rows.json is no JSON'],
])('mps infer refuses %s before it asks', async (text, fault) => {
  const { code, stderr, inputs } = await asked(text);

  expect([code, inputs]).toEqual([2, undefined]);
  expect(stderr).toContain(fault);
});

test('mps infer with several inputs asks the model once how it describes itself', async () => {
  for (const name of ['x', 'y']) await writeFile(join(folder, `${name}.json`), '[[1, 2]]');
  const inputs = ['x', 'y'].map((name) => ({ name, datatype: 'FP32', shape: [-1, 2] }));
  const { url, received } = await served((response, request) =>
    json(request.method === 'GET' ? { inputs } : { outputs: [] })(response, request),
  );
  const environment = { MPS_URL: url, MPS_TOKEN: 'a' };

  const { code, stderr } = await runMps(['infer', 'digits', '--input', 'x=x.json', '--input', 'y=y.json'], {
    folder,
    home: folder,
    environment,
  });

  expect(code, stderr).toBe(0);
  const models = received.filter(({ url: path }) => path === '/v2/models/digits');
  expect(models).toHaveLength(1);
});

test('mps infer sends texts, and shows the vector of each and whether it was cut', async () => {
  const { url, received } = await served(json({ embeddings: [[0.25, -1]], cut: [0] }));
  const environment = { MPS_URL: url, MPS_TOKEN: 'a' };
  const options = { folder, home: folder, environment };

  const { code, stderr, stdout } = await runMps(['infer', 'reviews', '--text', 'It works'], options);
  const lone = await runMps(['infer', 'reviews', '--pair', 'alone'], options);

  expect(code, stderr).toBe(0);
  const sent = received.find(({ method }) => method === 'POST');
  expect(JSON.parse(String(sent?.body))).toEqual({ texts: ['It works'] });
  expect(stdout).toContain('It works\n  2 numbers: 0.25  -1\n  cut:');
  expect(lone).toMatchObject({ code: 2, stderr: expect.stringContaining('--pair needs a --text each') });
});
