import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, onTestFinished } from 'vitest';

const runtime = createRequire(import.meta.url).resolve('onnxruntime-node');
const folders: string[] = [];
let program: Promise<string> | undefined;

// At the end of the test file that imports this.
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function bundle(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stage-program-'));
  folders.push(folder);
  const outfile = join(folder, 'stage.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, '../../../shared/onnx/stage/main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    alias: { 'onnxruntime-node': runtime },
    external: [join(dirname(runtime), '*')],
    banner: { js: "import{createRequire as r}from'node:module';const require=r(import.meta.url);" },
  });
  return outfile;
}

/** Command line of a stage's process: bundled once for a test file, as jobs are, because starting it is most of its time. */
export async function stageCommand(): Promise<string[]> {
  program ??= bundle();
  return [process.execPath, await program];
}

/** A folder of the test's own, removed after it. */
export async function testFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'optimize-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
