import { readdir, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { mainPreprocessing, preprocessingNames } from '../../shared/data/models/preprocessing-names.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { ModelFile } from './model-upload.ts';

type Found = Pick<ModelFile, 'role' | 'name' | 'path'>;

/** Places of the ONNX file in a folder, as exporters choose them. */
const onnxPlaces = ['model.onnx', 'onnx/model.onnx'];

/**
 * Find the files of a model in its folder: the ONNX file, its external data, and the tokenizer or the image processor with the settings beside it.
 * @returns undefined if the path is that of a file
 */
export async function modelFolder(path: string, shown: string): Promise<Found[] | undefined> {
  if (!(await stat(path).catch(() => undefined))?.isDirectory()) return undefined;
  const names = (await readdir(path, { recursive: true })).map((name) => name.split(sep).join('/'));
  const graphs = names.filter((name) => name.endsWith('.onnx'));
  const chosen =
    onnxPlaces.find((name) => graphs.includes(name)) ?? (graphs.length === 1 ? graphs[0] : undefined);
  if (chosen === undefined) {
    const there =
      graphs.length === 0 ? 'has no ONNX file' : `has several ONNX files: ${graphs.sort().join(', ')}`;
    const hint = `Name one model.onnx, or give its path in place of the folder's.`;
    throw new CliError(`${shown} ${there}. ${hint}`, exitCodes.usage);
  }
  const folder = chosen.slice(0, chosen.lastIndexOf('/') + 1);
  // External data is named by the ONNX file; exporters name it after that.
  const data = names.filter((name) => /[._]data(_\d+)?$/.test(name) && name.startsWith(chosen));
  const settings = preprocessingNames.flatMap((name) => {
    const there = [`${folder}${name}`, name].find((path) => names.includes(path));
    return there === undefined ? [] : [{ role: 'preprocessing' as const, name, path: join(path, there) }];
  });
  return [
    { role: 'model', name: 'model.onnx', path: join(path, chosen) },
    ...data.map((name) => ({
      role: 'data' as const,
      name: name.slice(folder.length),
      path: join(path, name),
    })),
    ...(settings.some(({ name }) => mainPreprocessing.some((main) => main === name)) ? settings : []),
  ];
}
