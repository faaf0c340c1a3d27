import type { FoundLine } from './printed-metrics.ts';
import { printedNumber } from './printed-number.ts';

/** `[10]\ttrain-logloss:0.45\teval-auc:0.99` of XGBoost, `[2]\ttraining's auc: 0.99\tvalid_1's l2: 0.5` of LightGBM. */
const booster = /^\[(\d{1,9})\]\t(\S.*)$/;
const ofXgboost = /^([A-Za-z_]\w{0,60}-[\w@.-]{1,60}):(\S{1,30})$/;
const ofLightgbm = /^([A-Za-z_][\w ]{0,60})'s ([\w@. -]{1,60}): (\S{1,30})(?: \+ \S{1,30})?$/;

/** `10:\tlearn: 0.45\ttest: 0.51\tbest: 0.51 (10)\ttotal: 50ms` of CatBoost. */
const ofCatboost = /^(\d{1,9}):\tlearn: ([\d.e+-]{1,30})(?:\ttest: ([\d.e+-]{1,30}))?(?=\t)/;

/** `[I 2024-01-01 12:00:00,000] Trial 3 finished with value: 0.93 and parameters: {…}` of Optuna. */
const ofOptuna = /^\[I \d{4}-[^\]]{1,40}\] Trial (\d{1,9}) finished with value: (\S{1,30}) and /;

/** `Population's average fitness: 2.14 stdev: 0.37` and `Best fitness: 3.99 - size: (3, 8) - species 1` of neat-python. */
const ofNeatAverage = /^Population's average fitness: (\S{1,30}) stdev: (\S{1,30})$/;
const ofNeatBest = /^Best fitness: (\S{1,30}) - size: \(\d{1,9}, \d{1,9}\) - species /;

/** `[CV 1/5] END ....C=1, gamma=0.1;, score=0.930 total time=   0.0s` of scikit-learn's searches. */
const ofSearch = /^\[CV[^\]]{0,40}\] END .{0,400}?, score=([-\d.]{1,20}) total time= /;

/** `Early stopping, best iteration is:` of LightGBM, whose next line repeats an earlier one. */
const repeats = /est iteration is:\s*$/;

/** Recognize the lines that boosters, Optuna and neat-python print, each in a form of its own. */
export function boosterLine(text: string, before: string): FoundLine | undefined {
  const boosted = booster.exec(text);
  if (boosted !== null) {
    const foundLine = boostedLine(Number(boosted[1]), (boosted[2] ?? '').split('\t'));
    return foundLine !== undefined && repeats.test(before) ? { step: null, values: [] } : foundLine;
  }
  const [, score] = text.startsWith('[CV') ? (ofSearch.exec(text) ?? []) : [];
  if (score !== undefined) {
    const foundLine = valuesAt(null, [['cv_score', score]]);
    return foundLine && { ...foundLine, isWithin: true };
  }
  const learned = ofCatboost.exec(text);
  if (learned !== null)
    return valuesAt(Number(learned[1]), [
      ['train_loss', learned[2]],
      ['test_loss', learned[3]],
    ]);
  if (text.includes(' fitness: ')) return neatLine(text);
  const trial = ofOptuna.exec(text);
  const found = trial === null ? undefined : valuesAt(Number(trial[1]), [['value', trial[2]]]);
  return found === undefined ? undefined : { ...found, isOfTrial: true };
}

/** A generation prints each of these lines once, without its number, so they are counted. */
function neatLine(text: string): FoundLine | undefined {
  const [, average, deviation] = ofNeatAverage.exec(text) ?? [];
  const [, best] = ofNeatBest.exec(text) ?? [];
  const foundLine = valuesAt(null, [
    ['average_fitness', average],
    ['fitness_stdev', deviation],
    ['best_fitness', best],
  ]);
  return foundLine === undefined ? undefined : { ...foundLine, isWithin: true };
}

/** Every cell must be a metric, or the line is one of another program. */
function boostedLine(step: number, cells: readonly string[]): FoundLine | undefined {
  const pairs = cells.map((cell): [string, string | undefined] | undefined => {
    const xgboost = ofXgboost.exec(cell);
    if (xgboost !== null) return [xgboost[1] ?? '', xgboost[2]];
    const lightgbm = ofLightgbm.exec(cell);
    return lightgbm === null
      ? undefined
      : [`${lightgbm[1]}-${lightgbm[2]}`.replaceAll(' ', '_'), lightgbm[3]];
  });
  return pairs.every((pair) => pair !== undefined) ? valuesAt(step, pairs) : undefined;
}

function valuesAt(
  step: number | null,
  pairs: readonly (readonly [string, string | undefined])[],
): FoundLine | undefined {
  const values = pairs.flatMap(([name, text]): [string, number][] => {
    const value = text === undefined ? undefined : printedNumber(text);
    return value === undefined ? [] : [[name, value]];
  });
  return values.length === 0 ? undefined : { step, values };
}
