import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { StageProcess } from '../../../../../shared/onnx/engine/process/stage-process.ts';
import { ModelError } from '../../../../../shared/onnx/model/model-error.ts';
import { testFolder } from '../../../../support/onnx/stage-program.ts';
import { startStage } from '../../../../support/onnx/start-stage.ts';

const task = { kind: 'size', before: [], after: [] } as const;
const answer = { file_bytes: { before: 1, after: 2 }, gzip_bytes: { before: 3, after: 4 }, gzip_level: 6 };

/** Runs a program that stands for a stage; `write` is there to answer with. */
async function run(
  program: string,
  bounds = { memoryBytes: 2 ** 30, seconds: 3600 },
  signal = new AbortController().signal,
) {
  const folder = await testFolder();
  const file = join(folder, 'stage.mjs');
  const write =
    "import fs from 'node:fs'; const write = (line) => fs.writeSync(3, JSON.stringify(line) + '\\n');\n";
  writeFileSync(file, write + program);
  const heard: unknown[] = [];
  const say = (line: string) => heard.push(line);
  const place = { command: [process.execPath, file], user: undefined, folder, bounds, say, signal };
  const started = startStage<'size'>(place, { ...task, before: [], after: [] }, (fraction) =>
    heard.push(fraction),
  );
  return await started.then(
    (outcome) => ({ ...outcome, heard }),
    (fault: unknown) => ({ fault, heard }),
  );
}

async function expectFault(
  program: string,
  message: RegExp,
  bounds?: { memoryBytes: number; seconds: number },
) {
  const outcome = await run(program, bounds);
  expect('fault' in outcome && outcome.fault).toBeInstanceOf(ModelError);
  expect(String('fault' in outcome && outcome.fault)).toMatch(message);
}

describe('a stage', () => {
  test('answers, and is heard meanwhile', async () => {
    const outcome = await run(`
      const task = JSON.parse(fs.readFileSync(0, 'utf8'));
      write({ progress: 0.5 }); write({ say: task.kind + ' ' + Object.keys(process.env).sort() });
      write({ answer: ${JSON.stringify(answer)}, peak_memory_bytes: 5 });`);
    expect(outcome).toMatchObject({ answer, heard: [0.5, 'size GLIBC_TUNABLES,HOME,LANG,TMPDIR'] });
    expect('seconds' in outcome && outcome.seconds).toBeGreaterThan(0);
  });

  test('is over with its last line, though its exit hangs', async () => {
    const last = `write({ answer: ${JSON.stringify(answer)}, peak_memory_bytes: 5 });`;
    expect(await run(`${last} write({ progress: 1 }); for (;;);`)).toMatchObject({ answer, heard: [] });
    await expectFault("write({ fault: 'The model is odd.' }); for (;;);", /The model is odd/);
  });

  test('may find a fault', async () => {
    await expectFault("write({ fault: 'The model is odd.' });", /^ModelError: The model is odd\.$/);
    await expectFault(
      "write({ fault: 'x is undefined', stack: 'at …' });",
      /While measuring the files: x is undefined/,
    );
  });

  test.each([
    [
      "process.kill(process.pid, 'SIGSEGV');",
      /crashed while measuring the files \(it was ended by SIGSEGV\)/,
    ],
    [
      "console.error('terminate called'); process.exit(7);",
      /ended with code 7\)\. It printed last: terminate called/,
    ],
    ['fs.writeSync(3, \'{"answer": \');', /crashed/],
    ["fs.writeSync(3, 'nonsense\\n');", /crashed/],
  ])('may crash: %s', async (program, message) => {
    await expectFault(program, message);
  });

  test('is ended at its deadline', async () => {
    await expectFault('for (;;);', /It took longer than 0.5 seconds, while measuring the files/, {
      memoryBytes: 2 ** 30,
      seconds: 0.5,
    });
  });

  test('is not begun without time, however short it would be', async () => {
    const program = `write({ answer: ${JSON.stringify(answer)}, peak_memory_bytes: 5 });`;
    await expectFault(program, /No time was left for measuring the files\./, {
      memoryBytes: 2 ** 30,
      seconds: 0,
    });
  });

  test('is ended when it takes too much memory', async () => {
    const program = 'const all = []; for (;;) all.push(Buffer.alloc(2 ** 22, 1));';
    await expectFault(program, /It took more than the 200 MiB of memory|printed last|allocat/, {
      memoryBytes: 200 * 2 ** 20,
      seconds: 3600,
    });
  });

  test('is ended when it never stops answering', async () => {
    const program = "const line = 'x'.repeat(2 ** 20); for (;;) fs.writeSync(3, line);";
    await expectFault(program, /crashed/);
  });

  test('is ended by an abort, whose reason is told', async () => {
    const stop = new AbortController();
    const running = run('for (;;);', undefined, stop.signal);
    stop.abort(new Error('cancelled'));
    expect(await running).toMatchObject({ fault: new Error('cancelled') });
  });

  test('may not answer otherwise than it should', async () => {
    const program = 'write({ answer: { gzip_level: -1 }, peak_memory_bytes: 5 });';
    await expectFault(program, /The response of the process cannot be read, while measuring the files/);
  });

  test('shares its process with the next ones, until one fails', async () => {
    const folder = await testFolder();
    const file = join(folder, 'stage.mjs');
    writeFileSync(
      file,
      `import { writeSync } from 'node:fs';
      import { createInterface } from 'node:readline';
      let tasks = 0;
      for await (const line of createInterface({ input: process.stdin })) {
        tasks += 1;
        const answer = { ...${JSON.stringify(answer)}, gzip_level: tasks };
        const last = tasks < 3 ? { answer, peak_memory_bytes: process.pid } : { fault: 'The model is odd.' };
        writeSync(3, JSON.stringify(last) + '\\n');
      }`,
    );
    const bounds = { memoryBytes: 2 ** 30, seconds: 3600 };
    const { signal } = new AbortController();
    const place = { command: [process.execPath, file], user: undefined, folder, bounds, say() {}, signal };
    const stages = await StageProcess.start(place);
    const run = () => stages.run<'size'>({ ...task, before: [], after: [] }, () => {}, false);
    try {
      expect((await run()).answer).toMatchObject({ gzip_level: 1 });
      expect((await run()).answer).toMatchObject({ gzip_level: 2 });
      expect(stages.hasEnded).toBe(false);
      await expect(run()).rejects.toThrow(/The model is odd/);
      expect(stages.hasEnded).toBe(true);
    } finally {
      await stages.end();
    }
  });
});
