import { isMetricName } from './metric-words.ts';
import type { FoundLine } from './printed-metrics.ts';
import { numberPattern, printedNumber } from './printed-number.ts';

/** `    accuracy                           0.97       176` and `weighted avg  0.98  0.97  0.98  176` of scikit-learn. */
const accuracyOf = /^ {1,40}accuracy {10,60}(\d\.\d{1,9}) {2,20}\d{1,12}$/;
const averageOf =
  /^ {0,40}(macro|micro|weighted|samples) avg {2,20}(\d\.\d{1,9}) {2,20}(\d\.\d{1,9}) {2,20}(\d\.\d{1,9}) {2,20}\d{1,12}$/;

/** `RMSE (testset)    0.9311  0.9370  0.9342  0.0032  ` of Surprise: folds, mean and deviation. */
const ofFolds = /^(RMSE|MAE|MSE|FCP) \((test|train)set\) {2,10}([\d. ]{6,400})$/;

/** ` Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.381` of pycocotools. */
const ofCoco =
  /^ Average (?:Precision {1,2}|Recall {4,5})\((A[PR])\) @\[ IoU=(0\.50:0\.95|0\.\d0|0\.\d5)\s{1,10}\| area=\s{0,5}(all|small|medium|large) \| maxDets=\s{0,3}(\d{1,4}) \] = (-?\d\.\d{1,6})$/;

/** `                   all          4         17      0.869      0.584      0.739      0.497` of Ultralytics. */
const ofYolo = /^ {15,24}all((?: {2,12}\d{1,12}){2}|)((?: {2,12}\d\.?\d{0,6}(?:e-\d\d)?){2,8})$/;
const yoloNames: readonly string[] = ['precision', 'recall', 'mAP50', 'mAP50-95'];

/** `│         test_acc          │    0.92     │` of Lightning and Rich, `│ env_runners/episode_return_mean    21.5 │` of Tune. */
const boxed = new RegExp(
  String.raw`^ {0,4}[│┃] {1,60}([A-Za-z][\w@./-]{0,100}) {0,60}(?:[│┃] {1,60}| {2,60})(${numberPattern}) {1,60}[│┃]$`,
);

/** `        test_loss            0.27190935` of Lightning without Rich, `  eval_loss  =  0.4007` of Hugging Face. */
const ofData = new RegExp(
  String.raw`^ {2,12}((?:train|val|validate|test|eval|predict)_[\w@./-]{1,100})(?: {4,60}| {1,60}= {1,40})(${numberPattern})$`,
);

/** `copypaste: 38.1,58.9` of detectron2, below a line of names. */
const ofDetectron = /copypaste: ([-\d.,na]{3,400})$/;

/**
 * Recognize a line of a report that a library prints at the end of an evaluation. Its form alone says so.
 * @param before the line before, and `earlier` the one before that
 */
export function reportLine(text: string, before: string, earlier: string): FoundLine | undefined {
  const values = valuesOf(text, before, earlier)
    .map(([name, digits]): [string, number | undefined] => [name, printedNumber(digits)])
    .filter((pair): pair is [string, number] => pair[1] !== undefined && !Number.isNaN(pair[1]));
  return values.length === 0 ? undefined : { step: null, values };
}

function valuesOf(text: string, before: string, earlier: string): [string, string][] {
  const first = text.trimStart()[0] ?? '';
  if (first === '│' || first === '┃') return named(boxed.exec(text));
  if (text.startsWith(' Average ')) return cocoValues(text);
  if (first === 'R' || first === 'M' || first === 'F') {
    const [, name = '', data = '', numbers = ''] = ofFolds.exec(text) ?? [];
    const mean = numbers.trim().split(/ +/).at(-2);
    return mean === undefined ? [] : [[`${data}_${name.toLowerCase()}`, mean]];
  }
  if (text.includes('copypaste: ')) return detectronValues(text, before, earlier);
  const [, average, precision = '', recall = '', f1 = ''] = averageOf.exec(text) ?? [];
  if (average !== undefined)
    return [
      [`${average}_precision`, precision],
      [`${average}_recall`, recall],
      [`${average}_f1`, f1],
    ];
  const [, accuracy] = accuracyOf.exec(text) ?? [];
  if (accuracy !== undefined) return [['accuracy', accuracy]];
  return text.startsWith('  ') ? [...yoloValues(text, before), ...named(ofData.exec(text))] : [];
}

const named = (found: RegExpExecArray | null): [string, string][] => {
  const [, name = '', digits = ''] = found ?? [];
  return isMetricName(name) ? [[name, digits]] : [];
};

function cocoValues(text: string): [string, string][] {
  const [, name = '', threshold = '', area = '', detections = '', value = ''] = ofCoco.exec(text) ?? [];
  if (name === '' || value.startsWith('-')) return [];
  const at = threshold === '0.50:0.95' ? '' : threshold.slice(2);
  const of = area === 'all' ? '' : (area[0] ?? '');
  return [[`val_${name}${at}${of}${name === 'AR' && area === 'all' ? detections : ''}`, value]];
}

function yoloValues(text: string, before: string): [string, string][] {
  const [, , numbers] = ofYolo.exec(text) ?? [];
  if (numbers === undefined) return [];
  const digits = numbers.trim().split(/ +/);
  if (/^ +classes +top1_acc +top5_acc/.test(before))
    return digits.map((digit, at) => [`val_top${at === 0 ? 1 : 5}_acc`, digit]);
  if (!/^ +Class +Images +(?:Instances|Labels) +/.test(before)) return [];
  return digits.map((digit, at) => [`val_${at < 4 ? '' : 'mask_'}${yoloNames[at % 4] ?? ''}`, digit]);
}

function detectronValues(text: string, before: string, earlier: string): [string, string][] {
  const digits = ofDetectron.exec(text)?.[1]?.split(',') ?? [];
  const names = /copypaste: ([\w,@-]{2,400})$/.exec(before)?.[1]?.split(',') ?? [];
  const task = /copypaste: Task: (\w{1,40})$/.exec(earlier)?.[1];
  if (task === undefined || digits.length !== names.length) return [];
  return names.map((name, at) => [`${task}/${name}`, digits[at] ?? '']);
}
