/**
 * The calibration and the evaluation set that lie beside a model, by their names: `digits-calibration.npz` and
 * `digits-test.npz` beside `digits.onnx`. One that bears the name of another model is not taken; of several the one with
 * the model's name is, and none where there are still several.
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
    const most = Math.max(...found[role].map(({ named }) => named));
    const best = found[role].filter(({ named }) => named === most);
    return best.length === 1 ? best[0]?.path : undefined;
  };
  const [calibration, evaluation] = [only('calibration'), only('evaluation')];
  return {
    ...(calibration !== undefined && { calibration }),
    ...(evaluation !== undefined && { evaluation }),
  };
}

/** The sets of a model among other files; absent where there is none, or nothing tells which of several. */
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

/** Words in the name of an npz file that say what it is to a model. */
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

/** Words that say nothing of whose set it is. */
const plainWords = new Set(['data', 'dataset', 'set', 'samples', 'sample', 'images', 'inputs']);
