import { bundleCommand } from '../functions/service/build-command.ts';
import { writeBundle } from '../shared/bundle/write-bundle.ts';

/**
 * Build the command as `<folder>/mps.mjs`.
 *
 * @param root root folder of the repository
 */
export async function buildCommand(root: string, folder: string): Promise<void> {
  const { code, sources } = await bundleCommand(root);
  await writeBundle(root, folder, { files: [{ name: 'mps.mjs', contents: code }], sources });
}
