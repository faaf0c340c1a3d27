import { isQualifier } from './metric-words.ts';
import { namedPairs } from './named-pairs.ts';
import type { FoundLine } from './printed-metrics.ts';

/** Time, level and name of a logger in front of a line. */
const logPrefix =
  /^(?:\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?[\s:|-]{1,5}|\[?\d\d:\d\d:\d\d\]?\s{1,3})?(?:\[?(?:INFO|DEBUG|I)\]?[\s:|-]{1,5})?(?:[\w.]{1,40}\s{0,2}[:|-]\s{1,3})?/;

/** `epoch 3`, `Step [100/600]`, `iter 100`, `Train Epoch: 1`, `| end of epoch   1 |`, `Epoch: [0][ 10/391]`. */
const anchor =
  /^[\s|[(#*=>-]{0,12}(?:(?:train|val|valid|eval|test|end of|global|training|validation)[\s_:|-]{1,3})?(epoch|step|steps|iter|iteration|round|episode|update|batch)s?[\s_:=#[(]{0,4}(\d{1,9})(?:\.\d+)?(?![\d.]*[a-z])/i;

/** `[1,  2000] loss: 2.198` of PyTorch's tutorial, `Train: 0 [   0/1251 (  0%)]` of timm, `[E3/10]`. */
const shortAnchor = /^\[\s?(\d{1,7}),\s{0,6}(\d{1,9})\]\s|^(?:train|test|val):\s(\d{1,7})\s\[/i;

/** Position within an epoch: `[640/60000`, `200/ 2983 batches`, `[0][ 10/391]`, `Step [100/600]`. */
const within =
  /\[\s{0,6}\d{1,9}\/\s{0,6}\d{1,9}|\s\d{1,9}\/\s{0,6}\d{1,9} batch|\b(?:step|iter|batch)[\s:=[(]{1,4}\d/i;

/** A step anywhere in a line that begins otherwise: `iter_dt 12.3ms; iter 100: train loss 2.3` of minGPT. */
const later = /[;,|]\s(step|iter|iteration|epoch)\s{1,3}(\d{1,9}):\s/i;

/** `Test set: Average loss: 0.0489, Accuracy: 9842/10000 (98%)`, ` * Acc@1 60.2 Acc@5 82.1`, `Validation - loss: 1`. */
const summary =
  /^[\s*|>=-]{0,6}(train|training|test|testing|val|valid|validation|eval|evaluation|dev)(?: (?:set|results?|metrics|error))?\s?[:|-]\s/i;

const starred = /^\s{0,4}\* (?:Acc|acc|Prec|mAP|top)/;

/** Lines of a traceback, a test runner or a shell, and of code. */
const foreign =
  /^\s*(?:File "|at |Traceback|raise |assert |return |def |class |import |from |if |for |while |self\.|print\(|#|\/\/|>>>|\$ |\+ |E {2,}|>)|(?:Error|Exception|Warning|PASSED|FAILED|warning): |[{};]\s*$|\(\)|\b(?:GET|POST|PUT|HTTP)\b/;

/** Recognize a line that names its epoch or step, or the data that it sums up. */
export function anchoredLine(text: string, epoch: number | null): FoundLine | undefined {
  if (foreign.test(text)) return undefined;
  const [prefix = ''] = logPrefix.exec(text) ?? [];
  const line = prefix === '' ? text : text.slice(prefix.length);
  return stepLine(line) ?? (prefix === '' ? undefined : stepLine(text)) ?? summaryLine(line, epoch);
}

function stepLine(line: string): FoundLine | undefined {
  const anchored = anchor.exec(line);
  const short = anchored === null ? shortAnchor.exec(line) : null;
  const inner = anchored === null && short === null ? later.exec(line) : null;
  if (anchored === null && short === null && inner === null) return undefined;
  const digits = anchored?.[2] ?? short?.[1] ?? short?.[3] ?? inner?.[2];
  const kind = (anchored?.[1] ?? inner?.[1] ?? 'epoch').toLowerCase();
  const rest = anchored === null ? line.slice(short?.[0].length ?? 0) : line.slice(anchored[0].length);
  const [, lead = ''] = /^[\s|[(#*=>-]{0,12}(val|valid|eval|test|validation)[\s_:|-]/i.exec(line) ?? [];
  const values = namedPairs(rest, lead.toLowerCase());
  if (values.length === 0) return undefined;
  const step = Number(digits);
  const isEpoch = kind === 'epoch';
  const isWithin = isEpoch && (short !== null || within.test(rest));
  return { step, values, isWithin, ...(isEpoch && { epoch: step }) };
}

function summaryLine(line: string, epoch: number | null): FoundLine | undefined {
  const [matched = '', data = ''] = summary.exec(line) ?? [];
  if (!isQualifier(data) && !starred.test(line)) return undefined;
  const values = namedPairs(line.slice(matched.length), data.toLowerCase());
  // A sentence such as "test: 3 of 5" has no name of a metric.
  return values.length === 0 ? undefined : { step: epoch, values };
}
