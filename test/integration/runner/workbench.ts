import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { killTree } from '../../../shared/process/process-tree.ts';
import { type SupervisedCommand, supervise } from '../../../shared/process/supervise.ts';

/** A working folder and a marker for each test, and commands run there under supervision. */
export class Workbench {
  cwd = '';
  marker = { name: 'SUPERVISE_TEST', value: '' };

  constructor() {
    beforeEach(async () => {
      this.cwd = await mkdtemp(join(tmpdir(), 'supervise-'));
      this.marker = { name: 'SUPERVISE_TEST', value: crypto.randomUUID() };
    });
    afterEach(async () => {
      await killTree({ marker: this.marker });
      await rm(this.cwd, { recursive: true, force: true });
    });
  }

  /** Runs a command and gathers what it wrote. */
  async run(argv: readonly string[], options: Partial<SupervisedCommand> = {}) {
    const output = { stdout: '', stderr: '' };
    const outcome = await supervise({
      argv,
      cwd: this.cwd,
      env: { PATH: '/usr/bin:/bin' },
      marker: this.marker,
      stop: new AbortController().signal,
      ...options,
      onOutput: async (stream, chunk) => {
        output[stream] += chunk.toString();
        await options.onOutput?.(stream, chunk);
      },
    });
    return { outcome, ...output };
  }

  sh(script: string, options: Partial<SupervisedCommand> = {}) {
    return this.run(['sh', '-c', script], options);
  }

  async script(name: string, content: string, mode = 0o755) {
    await writeFile(join(this.cwd, name), content);
    await chmod(join(this.cwd, name), mode);
  }
}
