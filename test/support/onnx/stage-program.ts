import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { jobProgram } from '../job-programs.ts';

/** Command line of a stage's process. */
export const stageCommand = (): string[] => [
  process.execPath,
  jobProgram('shared/onnx/engine/process/main.ts'),
];

/** A folder of the test's own, removed after it. */
export async function testFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'optimize-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
