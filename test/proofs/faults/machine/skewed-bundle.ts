import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../../..');

/** Programs of the bundle that a node process begins with. */
const programs = ['infra/local/start/main.js', 'infra/local/s3/main.js', 'infra/aws/job-image/run-job.js'];

/** The clock of a process: it reads anew, ten times a second at most, by how many milliseconds a file says it is off. */
const clock = (file: string): string => `import { readFileSync } from 'node:fs';
import { ServerResponse } from 'node:http';
const Own = Date;
let [off, readAt] = [0, -1e9];
const offset = () => {
  if (performance.now() - readAt > 100) {
    readAt = performance.now();
    off = Number(readFileSync(${JSON.stringify(file)}, 'utf8'));
  }
  return off;
};
globalThis.Date = class Date extends Own {
  constructor(...given) {
    if (given.length === 0) super(Own.now() + offset());
    else super(...given);
  }
  static now() {
    return Own.now() + offset();
  }
};
// Node's own modules have the clock of before, by which the SDK would take its own for wrong.
const { writeHead } = ServerResponse.prototype;
ServerResponse.prototype.writeHead = function (...given) {
  this.setHeader('Date', new Date().toUTCString());
  return writeHead.apply(this, given);
};
`;

/** A bundle of the service of which every process, those of jobs too, has the clock of a file. */
export async function buildSkewedBundle(
  folder: string,
): Promise<{ program: string; setOffset(milliseconds: number): Promise<void> }> {
  const program = join(folder, 'bundle');
  const child = spawn(process.execPath, [join(root, 'infra/local/start/bundle.ts'), root, program], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error('the bundle could not be built');
  // Engines and native code are found from there.
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const file = join(folder, 'clock');
  const shim = join(folder, 'clock.mjs');
  const setOffset = (milliseconds: number) => writeFile(file, String(milliseconds));
  await setOffset(0);
  await writeFile(shim, clock(file));
  for (const name of programs) {
    const path = join(program, name);
    await writeFile(path, `import ${JSON.stringify(shim)};\n${await readFile(path, 'utf8')}`);
  }
  const start = [
    `import { main } from ${JSON.stringify(join(program, programs[0] ?? ''))};`,
    `await main(process.argv.slice(2), ${JSON.stringify({ program, checkout: root })});`,
  ];
  await writeFile(join(program, 'start.mjs'), start.join('\n'));
  return { program: join(program, 'start.mjs'), setOffset };
}
