import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { stageVariables } from '../../../infra/local/start/emulators/stage-files.ts';
import { testUser } from '../../support/test-users.ts';

const isRoot = process.getuid?.() === 0;
const user = testUser('a stage of the engine');

const platform = `bin/napi-v6/${process.platform}/${process.arch}/library`;

/** A bundle beside its packages, as a project has them. */
const files: Readonly<Record<string, string>> = {
  'program-1/package.json': '{"type":"module"}',
  'program-1/shared/onnx/engine/process/main.js': "import '../../../../chunks/a.js';",
  'program-1/chunks/a.js': "import { word } from 'onnxruntime-node'; console.log(word);",
  'node_modules/onnxruntime-node/package.json': '{"main":"dist/index.js"}',
  'node_modules/onnxruntime-node/dist/index.js': "exports.word = require('onnxruntime-common').word;",
  [`node_modules/onnxruntime-node/${platform}`]: 'native',
  'node_modules/onnxruntime-node/bin/napi-v6/elsewhere/x64/library': 'foreign',
  'node_modules/onnxruntime-common/package.json': '{"main":"index.js"}',
  'node_modules/onnxruntime-common/index.js': "exports.word = 'ready';",
};

async function project(mode: number) {
  const folder = await mkdtemp(join(tmpdir(), 'mps-stage-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o711);
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, 'project', file)), { recursive: true });
    await writeFile(join(folder, 'project', file), text, { mode: 0o600 });
  }
  await chmod(join(folder, 'project'), mode);
  const base = join(folder, 'base');
  await mkdir(base, { mode: 0o711 });
  return { program: join(folder, 'project/program-1'), base };
}

test.runIf(isRoot)('stages that cannot read the project get copies that they can', async () => {
  const { program, base } = await project(0o700);
  await mkdir(join(base, 'stage-old'));
  const { STAGE_NODE = '', STAGE_PROGRAM = '' } = await stageVariables(program, base);
  const { stdout } = await promisify(execFile)(STAGE_NODE, [STAGE_PROGRAM], { ...user, env: {}, cwd: '/' });
  expect(stdout).toBe('ready\n');
  expect(await readdir(base)).toEqual(['stage-program-1']);
  const binaries = await readdir(join(base, 'stage-program-1/node_modules/onnxruntime-node/bin/napi-v6'));
  expect(binaries).toEqual([process.platform]);
  expect(await stageVariables(program, base)).toEqual({ STAGE_NODE, STAGE_PROGRAM });
});

test.runIf(!isRoot)('stages with the rights of whoever started the service need no copies', async () => {
  const { program, base } = await project(0o700);
  expect(await stageVariables(program, base)).toEqual({});
});
