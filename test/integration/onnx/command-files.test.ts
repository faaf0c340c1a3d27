import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { ProgressLine } from '../../../shared/onnx/cli/progress-line.ts';
import { runCli } from '../../../shared/onnx/cli/run-cli.ts';
import { loadModel } from '../../../shared/onnx/model/file/load-model.ts';
import { saveWithData } from '../../support/onnx/data-beside.ts';
import { stageCommand, testFolder } from '../../support/onnx/stage-program.ts';

/** A folder that holds a model and its data. */
async function modelFolder(): Promise<string> {
  const folder = await testFolder();
  saveWithData(folder);
  rmSync(join(folder, 'mark'));
  writeFileSync(join(folder, 'samples.npz'), 'the samples');
  return folder;
}

async function run(folder: string, line: string, command?: readonly string[]) {
  let shown = '';
  const terminal = new Writable({
    write(chunk: Buffer, _encoding, done) {
      shown += chunk.toString();
      done();
    },
  });
  const code = await runCli(line.replaceAll('@', folder).split(' '), {
    stageCommand: command ?? stageCommand(),
    progress: new ProgressLine(terminal),
    print: () => {},
    signal: new AbortController().signal,
  });
  return { code, shown };
}

const contents = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.includes('.'))
      .sort()
      .map((name) => [name, readFileSync(join(folder, name), 'latin1')]),
  );

function locationsOf(path: string): string[] {
  const { external } = loadModel(path);
  const { locations } = external;
  external.close();
  return locations;
}

const prune = 'prune @/model.onnx --strategy magnitude_global --compression 2';

describe('where results are put', () => {
  test('one after the other in the folder of the source, each with its own data', async () => {
    const folder = await modelFolder();
    const source = contents(folder);
    expect(await run(folder, `${prune} --out @/small.onnx`)).toMatchObject({ code: 0 });
    const small = contents(folder);
    expect(small).toMatchObject(source);
    expect(locationsOf(join(folder, 'small.onnx'))).toEqual(['small.onnx.data']);

    const quantize = 'quantize @/small.onnx --strategy dynamic --precision 8 --out @/tiny.onnx';
    expect(await run(folder, quantize)).toMatchObject({ code: 0 });
    expect(contents(folder)).toMatchObject(small);
    expect(locationsOf(join(folder, 'tiny.onnx'))).toEqual(['tiny.onnx.data']);

    // A result that is asked for anew replaces the former one, data and receipt included.
    writeFileSync(join(folder, 'small.receipt.json'), 'old');
    writeFileSync(join(folder, 'small.onnx.data'), 'old');
    expect(await run(folder, `${prune} --out @/small.onnx --force`)).toMatchObject({ code: 0 });
    const { 'small.receipt.json': receipt, ...again } = contents(folder);
    expect(receipt).toContain('"magnitude_global"');
    const { 'small.receipt.json': _receipt, 'small.receipt.svg': _page, ...before } = small;
    expect(again).toMatchObject(before);
  });
});

/** Nothing may be started for what is refused. */
const none = ['/no/such/program'];

describe('what is refused before any work', () => {
  test.each([
    ['--out @/model.onnx', /model\.onnx is read, and never changed/],
    ['--out @/model.onnx --force', /model\.onnx is read, and never changed/],
    ['--out @/symbolic.onnx --force', /symbolic\.onnx is @\/model\.onnx, which is never changed/],
    ['--out @/hard.onnx --force', /hard\.onnx is @\/model\.onnx, which is never changed/],
    ['--out @/dir/model.onnx --force', /which is never changed/],
    ['--out @/model.onnx.data --force', /model\.onnx\.data is read, and never changed/],
    ['--out @/tied.onnx --force', /tied\.onnx\.data is @\/model\.onnx\.data, which is never changed/],
    ['--out @/samples.npz --calibration @/samples.npz --force', /samples\.npz is read, and never changed/],
    ['--out @/sampled.onnx --evaluation @/samples.npz --force', /sampled\.receipt\.json is @\/samples\.npz/],
    ['--out @/former.onnx', /former\.onnx is already there\. Give --out another name, or --force/],
    ['--out @/dangling.onnx', /dangling\.onnx is already there/],
    ['--out @/told.onnx', /told\.receipt\.svg is already there/],
    ['--out @/kept.onnx', /kept\.onnx\.data is already there/],
    ['--out @/dir', /--out @\/dir is a folder; give the name of a file in it/],
    ['--out @/linked --force', /--out @\/linked is a folder/],
    ['--out @/new/', /--out @\/new\/ is a folder/],
    ['--out ', /--out must name the file/],
    ['--out /proc/a.onnx', /\/proc cannot be written to/i],
    ['--out @/samples.npz/a.onnx', /samples\.npz\/a\.onnx cannot be written/],
    [`--out @/${'n'.repeat(253)}`, /cannot be written: its name is too long/],
    ['--out @/a.onnx --calibration @/dir', /--calibration @\/dir is a folder/],
    ['--out @/a.onnx --evaluation @/gone.npz', /gone\.npz cannot be read: there is no such file/],
  ])('%s', async (flags, message) => {
    const folder = await modelFolder();
    const at = (name: string): string => join(folder, name);
    mkdirSync(at('dir'));
    symlinkSync('model.onnx', at('symbolic.onnx'));
    linkSync(at('model.onnx'), at('hard.onnx'));
    symlinkSync('../model.onnx', at('dir/model.onnx'));
    linkSync(at('model.onnx.data'), at('tied.onnx.data'));
    linkSync(at('samples.npz'), at('sampled.receipt.json'));
    symlinkSync('nowhere', at('dangling.onnx'));
    symlinkSync('dir', at('linked'));
    for (const name of ['former.onnx', 'told.receipt.svg', 'kept.onnx.data']) writeFileSync(at(name), name);
    const names = readdirSync(folder);
    const source = readFileSync(at('model.onnx'), 'latin1');
    const { code, shown } = await run(folder, `${prune} ${flags}`, none);
    expect({ code, lines: shown.trim().split('\n').length }).toEqual({ code: 1, lines: 1 });
    expect(shown.replaceAll(folder, '@')).toMatch(message);
    expect(readdirSync(folder)).toEqual(names);
    expect(readFileSync(at('model.onnx'), 'latin1')).toBe(source);
    expect(existsSync(at('new'))).toBe(false);
  });

  test('a model that is a folder', async () => {
    const folder = await modelFolder();
    mkdirSync(join(folder, 'm.onnx'));
    const line = 'prune @/m.onnx --strategy random --compression 2 --out @/a.onnx';
    const { code, shown } = await run(folder, line, none);
    expect(code).toBe(1);
    expect(shown.replaceAll(folder, '@')).toBe('@/m.onnx is a folder; give a file.\n');
  });

  test('everything at once', async () => {
    const folder = await modelFolder();
    const line =
      'quantize @/none.onnx --strategy dynamic --precision 4 --precision 8 --memory none --foo --seconds -4 --out @/samples.npz';
    const { code, shown } = await run(folder, line, none);
    expect(code).toBe(1);
    for (const message of [
      '--precision is given twice.',
      '--memory must be a number above 0.',
      '--seconds must be a number above 0.',
      '--foo is not a flag of quantize',
      'none.onnx cannot be read: there is no such file.',
      'samples.npz is already there',
    ]) {
      expect(shown).toContain(message);
    }
  });
});
