import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { bundleOptions } from '../../../infra/service/bundle-options.ts';
import { boundToParent } from '../../../shared/host/linux/bound-to-parent.ts';
import type { BareOptions } from './bare-server.ts';
import { nodeFlags, projectRoot } from './service-process.ts';

/** Runs the bare server in a process of its own, bundled and with Node's flags as the service is. */
export async function startBareServer(
  folder: string,
  options: BareOptions,
  started: AsyncDisposableStack,
): Promise<string> {
  await build({
    absWorkingDir: projectRoot,
    entryPoints: ['test/proofs/bench/bare-server.ts'],
    outdir: folder,
    ...bundleOptions,
  });
  await writeFile(join(folder, 'package.json'), '{"type":"module"}\n');
  // As the service runs under load: it takes back the flags that save memory (infra/local/start/heap-room.ts).
  const flags = (await nodeFlags()).filter((flag) => flag !== '--memory-saver-mode');
  const program = [...flags, join(folder, 'bare-server.js')];
  const { file, args } = boundToParent(process.execPath, program);
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'], env: {} });
  started.defer(async () => {
    const ended = once(child, 'exit');
    if (child.kill()) await ended;
  });
  child.stdin.end(JSON.stringify(options));
  const [port] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit'),
  ]);
  return `http://127.0.0.1:${String(port)}`;
}
