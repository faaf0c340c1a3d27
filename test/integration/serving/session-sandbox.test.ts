import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { thisHost } from '../../../shared/host/this-host.ts';
import { SessionProcess } from '../../../shared/serving/sessions/session-process.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'session-sandbox-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A program that answers its first task with what it can do, as the runtime answers with a fault. */
const spy = `
const { readFileSync, writeFileSync, writeSync, readSync, readdirSync } = require('node:fs');
const { networkInterfaces } = require('node:os');
readSync(0, Buffer.alloc(8));
const can = (act) => { try { act(); return true; } catch { return false; } };
const [model, program, secret] = JSON.parse(readFileSync(__dirname + '/paths.json', 'utf8'));
const status = readFileSync('/proc/self/status', 'utf8');
const found = {
  uid: process.getuid(),
  capabilities: /CapBnd:\\s*(\\S+)/.exec(status)[1] + '/' + /CapEff:\\s*(\\S+)/.exec(status)[1],
  noNewPrivileges: /NoNewPrivs:\\s*1/.test(status),
  interfaces: Object.keys(networkInterfaces()),
  reads: [model, program].map((path) => can(() => readFileSync(path))),
  writes: [model, program, model + '.new', program + '.new'].map((path) => can(() => writeFileSync(path, ''))),
  secret: can(() => readFileSync(secret)),
  processes: readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).length < 10,
};
const text = Buffer.from(JSON.stringify({ fault: JSON.stringify(found) }));
const head = Buffer.alloc(8);
head.writeUInt32LE(text.length, 0);
writeSync(3, Buffer.concat([head, text]));
`;

test.runIf(thisHost.canSandbox())(
  'the process of a served model has a user and process table of its own, no network, and reads model and program alone',
  async () => {
    const [models, programs, data] = ['models', 'programs', 'data'].map((name) => join(folder, name));
    const [model, program, secret] = [
      join(models!, 'digest', 'model.onnx'),
      join(programs!, 'program.cjs'),
      join(data!, 'key'),
    ];
    await mkdir(models!, { mode: 0o700 });
    for (const made of [join(models!, 'digest'), programs!, data!]) await mkdir(made);
    await writeFile(model, 'model', { mode: 0o600 });
    await writeFile(program, spy);
    await writeFile(secret, 'secret');
    await writeFile(join(programs!, 'paths.json'), JSON.stringify([model, program, secret]));

    const launch = { program, memoryBytes: 2 ** 29, timeLimit: 20_000, hidden: [data!] };
    const found = await SessionProcess.open(model, launch).catch((error: Error) => error.message);

    const isRoot = process.getuid?.() === 0;
    expect(JSON.parse(String(found))).toEqual({
      uid: isRoot ? expect.toSatisfy((uid: number) => uid >= 61_500 && uid < 61_600) : process.getuid?.(),
      capabilities: expect.stringMatching(isRoot ? /^0+\/0+$/ : /\/0+$/),
      noNewPrivileges: true,
      interfaces: [],
      reads: [true, true],
      writes: [false, false, false, false],
      secret: false,
      processes: true,
    });
    expect(await readFile(model, 'utf8')).toBe('model');
  },
);
