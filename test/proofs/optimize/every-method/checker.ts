import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';

/** The onnx package's own full check, in one process for all models. */
export class Checker implements Disposable {
  readonly #child;
  readonly #answers: AsyncIterator<string>;

  constructor(python: string) {
    this.#child = spawn(python, [join(import.meta.dirname, 'check_models.py')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** What is wrong with a model; null where nothing is. */
  async fault(path: string): Promise<string | null> {
    this.#child.stdin.write(`${path}\n`);
    const next = await this.#answers.next();
    if (next.done === true) throw new Error('the checker ended: has its Python the onnx package?');
    return z.string().nullable().parse(JSON.parse(next.value));
  }

  [Symbol.dispose](): void {
    this.#child.kill();
  }
}
