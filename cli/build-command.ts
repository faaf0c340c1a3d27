import { bundleCommand, parquetFile } from '../functions/service/build-command.ts';
import { writeBundle } from '../shared/bundle/write-bundle.ts';

/**
 * Build the command as `<folder>/mps.mjs`.
 *
 * @param root root folder of the repository
 */
export async function buildCommand(root: string, folder: string): Promise<void> {
  const { code, parquet, sources } = await bundleCommand(root);
  const files = [
    { name: 'mps.mjs', contents: code },
    { name: parquetFile, contents: parquet },
  ];
  await writeBundle(root, folder, { files, sources });
}
