import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { StageLog } from '../../../../shared/onnx/optimize/stage-log.ts';
import { testFolder } from '../../../support/onnx/stage-program.ts';

/** Answers a check with its process id, the kinds of task that it had, and `open` as it is told to. */
const program = (opened: object) => `
  import { appendFileSync, writeSync } from 'node:fs';
  import { createInterface } from 'node:readline';
  appendFileSync('pids', process.pid + '\\n');
  const kinds = [];
  for await (const line of createInterface({ input: process.stdin })) {
    const { kind } = JSON.parse(line);
    kinds.push(kind);
    const answer = { layers: [], runtime: kinds.join() };
    const last = kind === 'open' ? ${JSON.stringify(opened)} : { answer, peak_memory_bytes: process.pid };
    writeSync(3, JSON.stringify(last) + '\\n');
  }`;

async function stagesThat(opened: object, areKept = true) {
  const folder = await testFolder();
  const file = join(folder, 'stage.mjs');
  writeFileSync(file, program(opened));
  const bounds = { memoryBytes: 2 ** 30, seconds: 20 };
  const { signal } = new AbortController();
  const options = { command: [process.execPath, file], user: undefined, folder, bounds, say() {}, signal };
  const stages = new StageLog(options, () => {}, areKept);
  const task = { kind: 'check', before: 'm', after: 'r', seed: 0, layers: [], work: folder } as const;
  return {
    stages,
    check: async () => (await stages.run<'check'>('check', { ...task, layers: [] })).runtime,
    pids: async () => (await readFile(join(folder, 'pids'), 'utf8')).trimEnd().split('\n').map(Number),
  };
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('a prepared session', () => {
  test('is in the process that the first stage with a session takes', async () => {
    const { stages, check, pids } = await stagesThat({ answer: {}, peak_memory_bytes: 1 });
    stages.prepareSession();
    stages.prepareModel('m');
    expect(await check()).toBe('open,check');
    expect(await check()).toBe('open,check,check');
    expect(await pids()).toHaveLength(1);
    expect(stages.records.map(({ name }) => name)).toEqual(['check']);
    await stages.end();
    expect((await pids()).filter(isRunning)).toEqual([]);
  });

  test('that cannot be opened costs nothing but its process', async () => {
    const { stages, check, pids } = await stagesThat({ fault: 'ONNX Runtime cannot load the model.' });
    stages.prepareSession();
    stages.prepareModel('m');
    expect(await check()).toBe('check');
    expect(await pids()).toHaveLength(2);
    await stages.end();
    expect((await pids()).filter(isRunning)).toEqual([]);
  });

  test('that no stage takes ends with the others', async () => {
    const { stages, pids } = await stagesThat({ answer: {}, peak_memory_bytes: 1 });
    stages.prepareSession();
    await expect.poll(() => pids().catch(() => [])).toHaveLength(1);
    await stages.end();
    expect((await pids()).filter(isRunning)).toEqual([]);
  });

  test('is none where each stage has a process of its own', async () => {
    const { stages, check, pids } = await stagesThat({ answer: {}, peak_memory_bytes: 1 }, false);
    stages.prepareSession();
    stages.prepareModel('m');
    expect([await check(), await check()]).toEqual(['check', 'check']);
    expect(await pids()).toHaveLength(2);
    await stages.end();
  });
});
