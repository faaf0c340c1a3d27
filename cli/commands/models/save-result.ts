import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { endpoint as downloadPruned } from '../../../functions/optimization/compressions/prune/download-pruned-model.endpoint.ts';
import { saveDownload, savedState } from '../../../shared/client/node/save-download.ts';
import { bytesText } from '../../../shared/core/text/bytes-text.ts';
import { renameData } from '../../../shared/onnx/model/file/save-model.ts';
import { CliError } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import type { Session } from '../../login/connect.ts';
import { LiveLine } from '../../output/live-line.ts';
import { replacedError } from '../../output/save-text.ts';
import type { Compression, Operation } from './follow-compression.ts';

/** Name of the ONNX file in a result. The names of its external data files begin with it. */
const onnxName = 'model.onnx';

/**
 * Return the local path of a result's file. It begins with the name of the model, so several models fit into one
 * folder.
 */
const placeOf = (target: string, name: string): string =>
  name.startsWith(onnxName) ? `${target}${name.slice(onnxName.length)}` : `${target}.${name}`;

/** Return the paths of all files that a result may have. @param target absolute path of the model */
export const placesOfResult = (target: string): string[] =>
  [onnxName, `${onnxName}.data`].map((name) => placeOf(target, name));

interface Saving {
  operation: Operation;
  compression: Compression;
  to: string;
  /** Whether to replace existing files with other contents. */
  force?: boolean | undefined;
}

/**
 * Download the result of a compression as `to` and its external data as `<to>.data`. Rename the data in the model to
 * match. Save the model last, so it never exists without its data.
 *
 * @throws CliError if the compression has no result, or other files have these names
 */
export async function saveResult(
  { folder, printer }: CliContext,
  { client }: Session,
  { operation, compression, to, force = false }: Saving,
): Promise<void> {
  const { strategy_id, result } = compression;
  if (result.length === 0) throw new CliError('The strategy has no result.');
  const target = resolve(folder, to);
  const line = new LiveLine(printer);
  const route = `GET /optimization/${operation}/strategies/{strategy_id}/model` as const;
  const files = result.map((file) => ({ ...file, path: placeOf(target, file.name) }));
  const names = new Map(files.map(({ name, path }) => [name, basename(path)]));
  const isRenamed = files.length > 1 && basename(target) !== onnxName;
  const fetch = ({ name, size, sha256 }: (typeof files)[number], path: string) => {
    const onProgress = (bytes: number) => line.set(`${bytesText(bytes)} of ${bytesText(size)}`);
    const request = { path: { strategy_id }, ...(name !== onnxName && { query: { file: name } }) };
    return saveDownload<typeof downloadPruned>(client, route, request, { path, size, sha256, onProgress });
  };
  /** The model as the service stores it, before its external data is renamed. */
  const original = join(dirname(target), `.${basename(target)}.${strategy_id}`);
  const model = files.find(({ name }) => name === onnxName);
  try {
    let renamed: Uint8Array | undefined;
    if (isRenamed && model !== undefined) {
      await mkdir(dirname(target), { recursive: true });
      await fetch(model, original);
      renamed = renameData(await readFile(original), names);
    }
    const stateOf = async (file: (typeof files)[number]) => {
      if (file !== model || renamed === undefined) return savedState(file);
      const there = await readFile(target).catch(() => undefined);
      if (there?.equals(renamed)) return 'same';
      return (await savedState(file)) === 'absent' ? 'absent' : 'other';
    };
    const last = (file: (typeof files)[number]) => Number(file === model);
    const states = await Promise.all(files.map(async (file) => ({ file, state: await stateOf(file) })));
    const other = states.filter(({ state }) => state === 'other').map(({ file: { path } }) => path);
    if (other.length > 0 && !force) throw replacedError(other, 'nothing was saved');
    for (const { file, state } of states.toSorted((a, b) => last(a.file) - last(b.file))) {
      if (state !== 'same') {
        if (file === model && renamed !== undefined) {
          await writeFile(original, renamed);
          await rename(original, target);
        } else await fetch(file, file.path);
      }
      const there = state === 'same' ? ', already there' : '';
      line.above(() => printer.say(`${file.path}  ${bytesText(file.size)}${there}`));
    }
  } finally {
    line.end();
    await rm(original, { force: true });
  }
}
