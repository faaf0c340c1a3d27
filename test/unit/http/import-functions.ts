// Imports every endpoint and event below a folder, and prints what that did besides. Run with an empty environment.
import { glob } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , folder = ''] = process.argv;
const root = join(folder, '..');
const read = new Set<string>();
let connected = 0;

/** The file that asks, where it is one of ours. */
function asker(): string | undefined {
  const frame = (new Error().stack ?? '').split('\n')[4] ?? '';
  const isOurs = frame.includes(root) && !frame.includes('node_modules');
  return isOurs ? frame.trim() : undefined;
}

const note = (name: string | symbol): void => {
  const from = asker();
  if (from !== undefined) read.add(`${String(name)} ${from}`);
};

process.env = new Proxy(process.env, {
  get(target, name) {
    note(name);
    return Reflect.get(target, name);
  },
  has(target, name) {
    note(name);
    return Reflect.has(target, name);
  },
  ownKeys(target) {
    note('all of it');
    return Reflect.ownKeys(target);
  },
});

const { connect } = Socket.prototype;
Socket.prototype.connect = function count(this: Socket, ...given: never) {
  connected += 1;
  return connect.apply(this, given);
};

// Where the answer goes is opened beforehand.
void process.stdout;
const files = await Array.fromAsync(glob('**/*.{endpoint,event}.ts', { cwd: folder }));
const before = process.getActiveResourcesInfo();
for (const file of files) await import(pathToFileURL(join(folder, file)).href);
const active = process.getActiveResourcesInfo().filter((one) => !before.includes(one));
process.stdout.write(JSON.stringify({ imported: files.length, read: [...read], connected, active }));
