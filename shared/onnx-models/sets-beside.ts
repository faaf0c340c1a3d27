/**
 * Find the calibration and evaluation set in the folder of a model by their names: `digits-calibration.npz` and
 * `digits-test.npz` for `digits.onnx`. Skip sets with the name of another model. If there are several candidates,
 * take the one with the model's name, or none if the choice is still ambiguous.
 */
export function setsBeside(model: string, paths: readonly string[]): Sets {
  const own = parts(model);
  const found: Record<'calibration' | 'evaluation', { path: string; named: number }[]> = {
    calibration: [],
    evaluation: [],
  };
  for (const path of paths) {
    const { folder, words, ending } = parts(path);
    if (ending !== 'npz' || folder !== own.folder) continue;
    const roles = new Set(words.flatMap((word) => roleWords.get(word) ?? []));
    const [role] = roles;
    if (role === undefined || roles.size > 1) continue;
    const others = words.filter((word) => !roleWords.has(word) && !plainWords.has(word));
    if (others.every((word) => own.words.includes(word))) found[role].push({ path, named: others.length });
  }
  const only = (role: 'calibration' | 'evaluation'): string | undefined => {
    const most = found[role].reduce((best, { named }) => Math.max(best, named), 0);
    const best = found[role].filter(({ named }) => named === most);
    return best.length === 1 ? best[0]?.path : undefined;
  };
  const [calibration, evaluation] = [only('calibration'), only('evaluation')];
  return {
    ...(calibration !== undefined && { calibration }),
    ...(evaluation !== undefined && { evaluation }),
  };
}

/** The sets of a model. A set is absent if there is none, or the choice is ambiguous. */
export interface Sets {
  calibration?: string;
  evaluation?: string;
}

function parts(path: string): { folder: string; words: string[]; ending: string } {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  const words = name
    .slice(0, dot < 0 ? name.length : dot)
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  return {
    folder: path.slice(0, path.lastIndexOf('/') + 1),
    words,
    ending: name.slice(dot + 1).toLowerCase(),
  };
}

/** Words in the name of an npz file that tell its role. */
const roleWords: ReadonlyMap<string, 'calibration' | 'evaluation'> = new Map([
  ['calib', 'calibration'],
  ['calibration', 'calibration'],
  ['calibrate', 'calibration'],
  ['eval', 'evaluation'],
  ['evaluation', 'evaluation'],
  ['test', 'evaluation'],
  ['val', 'evaluation'],
  ['valid', 'evaluation'],
  ['validation', 'evaluation'],
]);

/** Words in a file name that do not identify a model. */
const plainWords = new Set(['data', 'dataset', 'set', 'samples', 'sample', 'images', 'inputs']);
