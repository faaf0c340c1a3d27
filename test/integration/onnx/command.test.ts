import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { ProgressLine } from '../../../shared/onnx/cli/progress-line.ts';
import { runCli } from '../../../shared/onnx/cli/run-cli.ts';
import { saveModel } from '../../../shared/onnx/model/file/save-model.ts';
import { Receipt } from '../../../shared/onnx/receipt/receipt.ts';
import { smallNetwork } from '../../support/onnx/small-network.ts';
import { stageCommand, testFolder } from '../../support/onnx/stage-program.ts';

async function command(line: (folder: string) => string, stop?: (shown: string) => AbortSignal | undefined) {
  const folder = await testFolder();
  mkdirSync(join(folder, 'model'));
  saveModel(smallNetwork(), join(folder, 'model'));
  const interrupted = new AbortController();
  let [shown, printed] = ['', ''];
  const terminal = new Writable({
    write(chunk: Buffer, _encoding, done) {
      shown += chunk.toString();
      if (stop?.(shown) !== undefined) interrupted.abort();
      done();
    },
  });
  const code = await runCli(line(folder).split(' '), {
    stageCommand: stageCommand(),
    progress: new ProgressLine(terminal),
    print: (text) => {
      printed += text;
    },
    signal: interrupted.signal,
  });
  return { code, shown, printed, folder, left: readdirSync(folder) };
}

describe('npm run optimize', () => {
  test('leaves the result, its receipt and its page, and prints the receipt', async () => {
    const { code, printed, folder, left } = await command(
      (place) =>
        `prune ${place}/model/model.onnx --strategy structured_l2 --compression 2 --out ${place}/small.onnx`,
    );
    expect(code).toBe(0);
    expect(left.sort()).toEqual(['model', 'small.onnx', 'small.receipt.json', 'small.receipt.svg']);
    const receipt = Receipt.parse(JSON.parse(readFileSync(join(folder, 'small.receipt.json'), 'utf8')));
    expect(receipt.file_bytes.after).toBe(readFileSync(join(folder, 'small.onnx')).length);
    expect(printed).toContain('latency p50');
    expect(printed).toContain(`Written: ${join(folder, 'small.onnx')}`);
  });

  test('ends with the code of a failed gate for a larger result', async () => {
    const { code, printed } = await command(
      (place) =>
        `quantize ${place}/model/model.onnx --strategy dynamic --precision 8 --exclude first --out ${place}/out.onnx`,
    );

    expect(printed).toMatch(/^THE FILE IS LARGER than the model's: \d+ bytes, before \d+\./);
    expect(code).toBe(4);
  });

  test.each([
    ['quantize MODEL --strategy dynamic --precision 4 --out OUT', 'precision must be 8 with dynamic'],
    ['prune MODEL --strategy random --compression -4 --out OUT', 'compression must be'],
    ['quantize none.onnx --strategy dynamic --precision 8 --out OUT', 'none.onnx cannot be read'],
    ['quantize MODEL --strategy dynamic --precision 8 --out MODEL', 'is read, and never changed'],
    ['prune MODEL --strategy random --inputs 1x1x8x8 --out OUT', 'but [1, 1, 8, 8] was requested'],
    ['prune MODEL --strategy random --memory none --out OUT', '--memory must be a number above 0'],
    [
      'prune MODEL --strategy random --exclude frist,Gmm --out OUT',
      '"frist" (did you mean "first"?), "Gmm" (did you',
    ],
  ])('%s ends with 1 and says why', async (line, message) => {
    const { code, shown, left } = await command((place) =>
      line.replaceAll('MODEL', `${place}/model/model.onnx`).replaceAll('OUT', `${place}/out.onnx`),
    );
    expect(code).toBe(1);
    expect(shown).toContain(message);
    expect(left).toEqual(['model']);
  });

  test('an interruption leaves nothing behind', async () => {
    const { code, left, folder } = await command(
      (place) => `prune ${place}/model/model.onnx --strategy random --compression 2 --out ${place}/out.onnx`,
      (shown) => (shown.includes('transform') ? AbortSignal.abort() : undefined),
    );
    expect(code).toBe(130);
    expect(left).toEqual(['model']);
    expect(existsSync(join(folder, 'out.onnx'))).toBe(false);
  });
});
