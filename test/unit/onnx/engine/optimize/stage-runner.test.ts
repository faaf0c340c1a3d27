import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { StageRunner } from '../../../../../shared/onnx/engine/optimize/stage-runner.ts';
import { extendedFlag } from '../../../../../shared/onnx/measure/session/extended-flag.ts';
import { testFolder } from '../../../../support/onnx/stage-program.ts';

/**
 * Answers a check with the kinds of task that it had, and `open` as it is told to. Crashes in a check, or with a result,
 * where `crashesIn` says so of its arguments and the file.
 */
const program = (opened: object, crashesIn: string) => `
  import { appendFileSync, writeSync } from 'node:fs';
  import { createInterface } from 'node:readline';
  appendFileSync('pids', process.pid + '\\n');
  const kinds = [];
  for await (const line of createInterface({ input: process.stdin })) {
    const { kind, model, trial } = JSON.parse(line);
    kinds.push(kind);
    if ((kind === 'check' || trial !== undefined) && (${crashesIn})(process.argv.slice(2), model))
      process.kill(process.pid, 'SIGSEGV');
    const answer = { layers: [], runtime: kinds.join() };
    const last = kind === 'open' ? ${JSON.stringify(opened)} : { answer, peak_memory_bytes: process.pid };
    writeSync(3, JSON.stringify(last) + '\\n');
  }`;

interface Stages {
  areKept?: boolean;
  fallsBack?: boolean;
  refusesResults?: boolean;
  /** A function of the arguments, as text. */
  crashesIn?: string;
}

async function stagesThat(
  opened: object,
  { areKept = true, fallsBack = true, refusesResults = false, crashesIn = '() => false' }: Stages = {},
) {
  const folder = await testFolder();
  const file = join(folder, 'stage.mjs');
  writeFileSync(file, program(opened, crashesIn));
  const bounds = { memoryBytes: 2 ** 30, seconds: 3600 };
  const { signal } = new AbortController();
  const options = { command: [process.execPath, file], user: undefined, folder, bounds, say() {}, signal };
  const stages = new StageRunner(options, () => {}, { areKept, fallsBack, refusesResults });
  const task = { kind: 'check', before: 'm', after: 'r', seed: 0, layers: [], work: folder } as const;
  const feed = { inputs: [], set: null, source: 'synthetic', samples: 1, seed: 0 } as const;
  const trial = { before: 'm', feed: { ...feed, inputs: [] } };
  return {
    stages,
    open: () => stages.run<'open'>('open', { kind: 'open', model: 'r', of: 'result', trial }),
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
    const { stages, check, pids } = await stagesThat(
      { answer: {}, peak_memory_bytes: 1 },
      { areKept: false },
    );
    stages.prepareSession();
    stages.prepareModel('m');
    expect([await check(), await check()]).toEqual(['check', 'check']);
    expect(await pids()).toHaveLength(2);
    await stages.end();
  });
});

describe('a stage of the result whose process crashes', () => {
  const withAll = `(args) => !args.includes('${extendedFlag}')`;
  const opened = { answer: {}, peak_memory_bytes: 1 };

  test('is run again with fewer optimizations, and so are all after it', async () => {
    const { stages, check, pids } = await stagesThat(opened, { crashesIn: withAll });
    expect(stages.warnings).toEqual([]);
    expect([await check(), await check()]).toEqual(['check', 'check,check']);
    expect(await pids()).toHaveLength(2);
    expect(stages.warnings).toEqual([expect.stringContaining('ORT_ENABLE_EXTENDED')]);
    await stages.end();
    expect((await pids()).filter(isRunning)).toEqual([]);
  });

  test('is not run a third time', async () => {
    const { stages, check, pids } = await stagesThat(opened, { crashesIn: '() => true' });
    await expect(check()).rejects.toThrow(/crashed while checking the layers \(it was ended by SIGSEGV\)/);
    expect(await pids()).toHaveLength(2);
    await stages.end();
  });

  test('is refused where the model that the result was made of runs', async () => {
    const crashesIn = `(args, model) => model === 'r' && (${withAll})(args)`;
    const { stages, open } = await stagesThat(opened, { refusesResults: true, crashesIn });
    await expect(open()).rejects.toThrow(
      /^ONNX Runtime crashes with the result, but not with the model, .* Nothing was written; .*SIGSEGV/,
    );
    expect(stages.warnings).toEqual([]);
    await stages.end();
  });

  test('is run again with fewer optimizations where the model crashes as well', async () => {
    const { stages, open } = await stagesThat(opened, { refusesResults: true, crashesIn: withAll });
    expect(await open()).toEqual({});
    expect(stages.warnings).toEqual([expect.stringContaining('ORT_ENABLE_EXTENDED')]);
    await stages.end();
  });

  test('fails at once where a crash is a fault of what is tried', async () => {
    const { stages, check, pids } = await stagesThat(opened, { crashesIn: withAll, fallsBack: false });
    await expect(check()).rejects.toThrow('crashed');
    expect(await pids()).toHaveLength(1);
    await stages.end();
  });
});
