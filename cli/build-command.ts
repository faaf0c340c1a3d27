import { bundleCommand } from '../functions/service/build-command.ts';
import { writeBundle } from '../shared/bundle/write-bundle.ts';

/**
 * Builds the command as `<folder>/mps.mjs`.
 *
 * @param root folder of the project
 */
export async function buildCommand(root: string, folder: string): Promise<void> {
  const { code, sources } = await bundleCommand(root);
  await writeBundle(root, folder, { files: [{ name: 'mps.mjs', contents: code }], sources });
}
