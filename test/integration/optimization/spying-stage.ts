// Stands in for a stage: tells who it is and what it can reach, and then that it found a fault. What to look at, beside
// its own model, is the request's `exclude`: the folder of another job.
import {
  accessSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

// One task a line; the stage's process waits for more until it is ended.
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const task = JSON.parse((await lines.next()).value ?? '');
const write = (line: unknown) => writeSync(3, `${JSON.stringify(line)}\n`);
const [other = ''] = task.request.exclude;

/** The code of the error with which something fails; `done` where it does not. */
function tried(act: () => unknown): string {
  try {
    act();
    return 'done';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

const status = readFileSync('/proc/self/status', 'latin1');
const field = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1] ?? '';

const seen = {
  uid: process.getuid?.(),
  gid: process.getgid?.(),
  groups: process.getgroups?.(),
  environment: Object.keys(process.env).sort(),
  capabilities: ['CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].map((name) => Number.parseInt(field(name), 16)),
  no_new_privileges: field('NoNewPrivs'),
  own: {
    read: tried(() => readFileSync(task.model)),
    write: tried(() => openSync(task.model, 'r+')),
    beside: tried(() => writeFileSync(join(dirname(task.model), 'beside'), '')),
    scratch: tried(() => writeFileSync('scratch', '')),
  },
  root: tried(() => process.setuid?.(0)),
  supervisor: tried(() => readFileSync(`/proc/${process.ppid}/environ`)),
  jobs: tried(() => readdirSync(join(other, '..'))),
  other: {
    list: tried(() => readdirSync(other)),
    enter: tried(() => accessSync(other, constants.X_OK)),
    model: tried(() => readFileSync(join(other, 'model/model.onnx'))),
    models: tried(() => readdirSync(join(other, 'model'))),
    sets: tried(() => readdirSync(join(other, 'sets'))),
    work: tried(() => readdirSync(join(other, 'work'))),
    write: tried(() => writeFileSync(join(other, 'work/planted'), '')),
  },
};
write({ say: `seen ${JSON.stringify(seen)}` });
write({ fault: 'The spy has seen enough.' });
