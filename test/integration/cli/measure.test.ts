import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishedNodes, publishedRuntime } from '../../../cli/run-engine.ts';
import { runMps } from '../../support/mps.ts';

const model = fileURLToPath(new URL('../../fixtures/onnx/digits.onnx', import.meta.url));
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-measure-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const measure = (...args: readonly string[]) => runMps(['measure', model, ...args], { folder, home: folder });

test('mps measure compares two files without a service, and ends as its gates do', async () => {
  const line = ['--base', model, '--seconds', '0.1', '--json'];
  const held = await measure(...line, '--gate', 'bytes <= base', 'error <= 0.01', '--gate');
  expect(held.code).toBe(0);
  expect(JSON.parse(held.stdout)).toMatchObject({
    passed: true,
    gates: [{ gate: 'bytes <= base' }, { gate: 'error <= 0.01', verdict: 'passed' }],
    agreement: { share: 1 },
  });
  expect((await measure(...line, '--gate', 'bytes <= 0.9x')).code).toBe(4);
});

test('mps measure refuses what is no gate before it runs anything', async () => {
  const { code, stderr } = await measure('--gate', 'latency < 0.8x');
  expect([code, stderr]).toEqual([2, expect.stringContaining('at character 9')]);
});

test('mps measure fetches the Node that the service runs on where the own one is too old', async () => {
  const { dependencies, optionalDependencies } = JSON.parse(await readFile('package.json', 'utf8'));

  const pinned = Object.entries<string>(optionalDependencies).flatMap(([name, version]) =>
    name.startsWith('node-') ? [[name.slice('node-'.length), version]] : [],
  );

  expect(publishedNodes).toEqual(Object.fromEntries(pinned));
  expect(publishedRuntime).toBe(dependencies['onnxruntime-node']);
});
