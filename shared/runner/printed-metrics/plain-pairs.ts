import { isMetricName, storedName } from './metric-words.ts';
import type { FoundLine } from './printed-metrics.ts';
import { numberPattern, printedNumber } from './printed-number.ts';

/** A line that is one metric: `Accuracy: 0.93`, `  RMSE: 0.79`, `Test accuracy = 93.1%`. */
const line = new RegExp(
  String.raw`^ {0,2}((?:(?:[Ff]inal|[Bb]est|[Aa]verage|[Mm]ean|[Tt]otal|[Oo]verall|[Mm]odel) ){0,2}(?:(?:[Tt]rain|[Tt]raining|[Tt]est|[Vv]al|[Vv]alid|[Vv]alidation|[Ee]val|[Dd]ev)(?:[ _-]|\s[Ss]et ))?(?:[Ll]oss|[Aa]cc|[Aa]ccuracy|ACC|AUC|auc|ROC[ -]AUC|roc_auc|[Ff]1(?:[ _-][Ss]core)?|RMSE|rmse|MSE|mse|MAE|mae|MAPE|R2|r2|R\^2|R2 [Ss]core|[Pp]recision|[Rr]ecall|[Pp]erplexity|BLEU|mAP|mIoU|[Mm]ean IoU|WER))\s{0,40}[:=]\s{1,20}(${numberPattern}|nan)\s?%?$`,
);

/** A sentence that is one metric: `The RMSE of prediction is: 0.45`, `The accuracy on the test set is 0.93.` */
const sentence = new RegExp(
  String.raw`^The ((?:(?:final|best|average|mean|overall|train|training|test|validation) ){0,2}(?:loss|accuracy|AUC|F1(?: score)?|RMSE|rmse|MSE|mse|MAE|mae|MAPE|R2|precision|recall|perplexity|BLEU|score))(?: (?:of|on|for|over|the|its|model|predictions?|train|training|test|validation|set|data|dataset)){0,6} (?:is|was)\s?[:=]? (${numberPattern})\s?%?\.?$`,
);

/** `Training set accuracy 0.8712` of JAX's examples. */
const ofSet = new RegExp(
  `^([Tt]rain|[Tt]raining|[Tt]est|[Vv]alidation) set (accuracy|loss|error) (${numberPattern})$`,
);

/** A metric among settings, because no setting has so many decimals. */
const measured = /\.\d{5}/;

/** A line of settings, as YAML, INI and argument parsers print them. */
const setting = /^\s{0,40}[a-z][\w.-]{0,60}\s{0,30}[:=]\s{0,30}\S{0,80}$/;

const times = /^\s{0,40}(?:time|elapsed|duration|epoch|step|seconds)\b/;

/**
 * Recognizes lines that are one metric, as scripts print them at their end. Among lines of settings they are settings,
 * too, so a line waits for its successor.
 */
export class PlainPairs {
  #waiting: FoundLine | undefined;

  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /**
   * Return the metric of the line before, once this one shows that it is none of a list of settings.
   * @param text the next line; blank if it was recognized otherwise
   */
  read(text: string, before: string, epoch: number | null): FoundLine[] {
    const waited = this.#waiting;
    const foundLine = pairOf(text, epoch);
    const isOfSettings = isSetting(before) && !measured.test(text);
    this.#waiting = foundLine !== undefined && isOfSettings ? undefined : foundLine;
    return waited === undefined || isSetting(text) ? [] : [waited];
  }
}

const isSetting = (text: string): boolean =>
  setting.test(text) && !times.test(text) && pairOf(text, null) === undefined;

function pairOf(text: string, epoch: number | null): FoundLine | undefined {
  const [, of, metric, measurement] = text.includes(' set ') ? (ofSet.exec(text) ?? []) : [];
  const [, name = '', digits = ''] =
    of === undefined ? (line.exec(text) ?? sentence.exec(text) ?? []) : ['', `${of} ${metric}`, measurement];
  const value = printedNumber(digits);
  // A metric is seldom a whole number, and a count always is.
  if (name === '' || value === undefined || !/[.e]|nan/i.test(digits)) return undefined;
  const words = name.replace(/^(?:(?:final|average|mean|total|overall|model) ){1,2}/i, '');
  return isMetricName(words)
    ? { step: epoch, values: [[storedName(words.replaceAll('^', '')), value]] }
    : undefined;
}
