import { withoutPrefix } from './log-prefix.ts';
import { isQualifier } from './metric-words.ts';
import { namedPairs } from './named-pairs.ts';
import type { FoundLine } from './printed-metrics.ts';

/** `| valid |`, `[Eval]`, `Train ` in front of a line that names its step. */
const lead =
  /^[\s|[(#*=>-]{0,12}(train|training|val|valid|validation|eval|evaluation|test|testing|dev)(?:_inner)?[\s\]_:|()-]{1,6}/i;

/** `epoch 3`, `Step [100/600]`, `iter 1,000`, `| end of epoch   1 |`, `Epoch: [0][ 10/391]`, `Epoch(val) [1][5/5]`. */
const anchor =
  /^[\s|[(#*=>-]{0,12}(?:(?:end of|global)[\s_:|-]{1,3})?(epoch|step|steps|iter|iteration|round|episode|update|batch)s?(?:\((train|val|test)\))?[\s_:=#[(]{0,12}(\d{1,3}(?:,\d{3}){1,3}(?![\d,])|\d{1,9})(?:\.\d+)?(?![\d.]*[a-z])/i;

/** `[1,  2000] loss: 2.198` of PyTorch's tutorial, `0 [   0/1251 (  0%)]` behind timm's `Train: `. */
const batchAnchor = /^\[\s?(\d{1,7}),\s{0,6}\d{1,9}\]\s|^(\d{1,7})\s\[/;

/** `[1/100] 1 tree, train loss: 0.5` of scikit-learn, `[100] loss=0.5` of JAX, `3epoch results: ` of ESPnet. */
const shortAnchor =
  /^\[(\d{1,7})\/\d{1,7}\]\s|^\[(\d{1,9})\]\s(?=[A-Za-z_][\w/]{0,60}=)|^(\d{1,7})epoch results: /;

/** Position within an epoch: `[640/60000`, `200/ 2983 batches`, `[0][ 10/391]`, `Step [100/600]`, `001:  100 / 1000 `. */
const within =
  /\[\s{0,6}\d{1,9}\/\s{0,6}\d{1,9}|\s\d{1,9}\/\s{0,6}\d{1,9} batch|\b(?:step|iter|batch)[\s:=[(]{1,4}\d|^:\s{1,8}\d{1,9} \/ \d{1,9} /i;

/** `[ 1/20]` as the position within a pass over other data. */
const position = /^\[\s{0,6}(\d{1,9})\/\s{0,6}(\d{1,9})\]|\]\[\s{0,6}(\d{1,9})\/\s{0,6}(\d{1,9})\]/;

/** A step anywhere in a line that begins otherwise: `iter_dt 12.3ms; iter 100: train loss 2.3` of minGPT, detectron2. */
const later =
  /(?:[;,|]|\s)\s(step|iter|iteration|epoch)(?::\s{0,3}|\s{1,3})(\d{1,9})(?=:\s|\s{2}|,\s)|\bloss at (step|iteration|epoch) (\d{1,9}) \|/i;

/** `Test set: Average loss: 0.0489, Accuracy: 9842/10000 (98%)`, ` * Acc@1 60.2 Acc@5 82.1`, `Validation - loss: 1`. */
const summary =
  /^[\s*|>=-]{0,6}(train|training|test|testing|val|valid|validation|eval|evaluation|dev)(?: (?:set|results?|metrics|error))?\s?[:|-]\s|^\[(eval|val|valid|test)\]\s/i;

const starred = /^\s{0,4}\* {1,4}(?:Acc|acc|Prec|mAP|top)/;

/** The mean of an epoch, as DETR, DeiT and MAE print it. */
const averaged = /^Averaged stats: /;

/** Lines of a traceback, a test runner or a shell, and of code. */
const foreign =
  /^\s*(?:File "|at |Traceback|raise |assert |return |def |class |import |from |if |for |while |self\.|print\(|#|\/\/|>>>|\$ |\+ |E {2,}|>)|(?:Error|Exception|Warning|PASSED|FAILED|warning): |[{};]\s*$|\(\)|\b(?:GET|POST|PUT|HTTP)\b/;

/** Recognize a line that names its epoch or step, or the data that it sums up. */
export function anchoredLine(text: string, epoch: number | null): FoundLine | undefined {
  if (foreign.test(text)) return undefined;
  const lines = withoutPrefix(text);
  for (const line of lines) {
    const foundLine = stepLine(line, epoch);
    if (foundLine !== undefined) return foundLine;
  }
  for (const line of lines) {
    const foundLine = summaryLine(line, epoch);
    if (foundLine !== undefined) return foundLine;
  }
  return undefined;
}

function stepLine(line: string, epoch: number | null): FoundLine | undefined {
  const [leading = '', led = ''] = lead.exec(line) ?? [];
  const body = leading === '' ? line : line.slice(leading.length);
  const anchored = anchor.exec(body);
  const data = (anchored?.[2] ?? led).toLowerCase();
  const isOther = data !== '' && !data.startsWith('train');
  if (anchored === null) {
    if (isOther && position.test(body)) return batchOfOther(body, data, epoch);
    return unanchored(line, body, leading, isOther ? data : '');
  }
  const [all, kind = '', , digits = ''] = anchored;
  const step = Number(digits.replaceAll(',', ''));
  const rest = body.slice(all.length);
  const isEpoch = kind.toLowerCase() === 'epoch';
  // `Iter(val) [5/5]` counts the batches of validation, and `Epoch(val) [1][5/5]` those of epoch 1.
  if (isOther && (isEpoch ? within.test(rest) : anchored[2] !== undefined))
    return batchOfOther(isEpoch ? rest : body.slice(all.lastIndexOf('[')), data, isEpoch ? step : epoch);
  const isWithin = isEpoch && within.test(rest);
  const isOfTraining = isWithin || data !== '';
  const values = namedPairs(
    rest,
    isOther ? { prefix: data, takesMean: true } : isOfTraining ? { scorePrefix: 'train' } : {},
  );
  if (values.length === 0) return undefined;
  return { step, values, isWithin, ...((isEpoch || anchored[2] !== undefined) && { epoch: step }) };
}

/** A line whose step stands in brackets, or behind other values. */
function unanchored(line: string, body: string, leading: string, prefix: string): FoundLine | undefined {
  const batch = batchAnchor.exec(leading === '' ? line : body);
  const isBatch = batch !== null && (batch[1] !== undefined || leading !== '');
  const short = isBatch ? batch : shortAnchor.exec(line);
  const inner = short === null ? later.exec(line) : null;
  const digits = short?.slice(1).find((one) => one !== undefined) ?? inner?.[2] ?? inner?.[4];
  if (digits === undefined) return undefined;
  const rest = short === null ? line : (isBatch && leading !== '' ? body : line).slice(short[0].length);
  const values = namedPairs(rest, isBatch ? { scorePrefix: 'train' } : { prefix, takesMean: prefix !== '' });
  if (values.length === 0) return undefined;
  const step = Number(digits);
  const kind = inner?.[1] ?? inner?.[3] ?? (isBatch || short?.[2] === undefined ? 'epoch' : 'step');
  const isEpoch = kind.toLowerCase() === 'epoch';
  return { step, values, isWithin: isBatch, ...(isEpoch && { epoch: step }) };
}

/**
 * A batch of a pass over other data than those of training. Its means are those of the data up to it, so only the last of
 * a pass counts. `Test: [ 1/20]` of PyTorch's examples and timm is the pass after each epoch.
 */
function batchOfOther(body: string, data: string, step: number | null): FoundLine | undefined {
  const [, at, total, innerAt = at, innerTotal = total] = position.exec(body) ?? [];
  const prefix = data === 'test' || data === 'testing' ? 'val' : data;
  const values = namedPairs(body, { prefix, takesMean: true });
  const isLast = innerAt === undefined || Number(innerAt) >= Number(innerTotal) - 1;
  return values.length === 0 ? undefined : { step, values, ...(!isLast && { isPartial: true }) };
}

function summaryLine(line: string, epoch: number | null): FoundLine | undefined {
  const [matched = '', named, tagged] = summary.exec(line) ?? [];
  const data = (named ?? tagged ?? '').toLowerCase();
  const isStarred = starred.test(line);
  const isAveraged = averaged.test(line);
  if (!isQualifier(data) && !isStarred && !isAveraged) return undefined;
  const rest = line.slice(matched.length);
  const isOfExamples = isStarred || (data === 'test' && rest.includes('Acc@'));
  const prefix = isAveraged ? 'train' : isOfExamples ? 'val' : data;
  const values = namedPairs(rest, { prefix, takesMean: true });
  // A sentence such as "test: 3 of 5" has no name of a metric.
  return values.length === 0 ? undefined : { step: epoch, values };
}
