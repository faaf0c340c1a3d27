import { bundleCommand } from '../functions/service/build-command.ts';
import { writeBundle } from '../shared/bundle/write-bundle.ts';

/**
 * Build the command as `<folder>/mps.mjs`.
 *
 * @param root root folder of the repository
 */
export async function buildCommand(root: string, folder: string): Promise<void> {
  const { files: bundled, sources } = await bundleCommand(root, 'checkout');
  const files = bundled.map(({ path, contents }) => ({ name: path, contents }));
  await writeBundle(root, folder, { files, sources });
}
