import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { codecFolder, installPictureCodec } from '../../aws/build/picture-codec.ts';

/**
 * Copies of those assets that hold machine code, with the code for this machine's processor: containers of another one
 * do not run here. Returns where the code of each operation is, and copies only what was asked for.
 *
 * @param into folder of the copies, which is new
 */
export class HostCodec {
  readonly #into: string;
  readonly #copied = new Map<string, string>();

  constructor(into: string) {
    this.#into = into;
  }

  /** The folder to run an operation's code from. */
  codeOf(operation: string, folder: string): string {
    // Assets are for arm64 already.
    if (process.arch === 'arm64' || !existsSync(join(folder, 'node_modules/sharp'))) return folder;
    const copy = join(this.#into, operation);
    this.#copied.set(folder, copy);
    return copy;
  }

  /** Makes the copies. @throws where npm cannot fetch the codec */
  async fill(root: string): Promise<void> {
    if (this.#copied.size === 0) return;
    const codec = `${await codecFolder(root)}-x64`;
    if (!existsSync(codec)) await installPictureCodec(root, codec, 'x64');
    for (const [folder, copy] of this.#copied) {
      await cp(join(folder, 'index.mjs'), join(copy, 'index.mjs'), { recursive: true });
      await cp(join(codec, 'node_modules'), join(copy, 'node_modules'), { recursive: true });
    }
  }
}
