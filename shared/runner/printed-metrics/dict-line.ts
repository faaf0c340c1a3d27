import { withoutPrefix } from './log-prefix.ts';
import { isMetricName, isQualifier } from './metric-words.ts';
import type { FoundLine } from './printed-metrics.ts';
import { printedNumber } from './printed-number.ts';

/** One entry of a printed Python dictionary or JSON object, whose number may be one of NumPy, PyTorch or JAX. */
const entry =
  /(['"])([\w@./ -]{1,100})\1: ?(?:(['"])([^'"]{0,40})\3|(?:np\.\w{1,20}|tensor|array|Array)\(([^\s,()]{1,40})(?:, ?\w{1,20}=[^,()]{1,30}){0,3}\)|([^\s,{}[\]'"]{1,40}))(?:, ?|$)/y;

const steps: readonly string[] = ['step', 'global_step', 'iteration', 'iter', 'epoch'];

/** What may stand in front of a dictionary: `epoch 0: `, `Step 10: `, `valid | ` of fairseq, `eval: `. */
const head =
  /^[\s|[(*#=>-]{0,12}(?:(train|training|train_inner|val|valid|validation|eval|evaluation|test|dev)[\s\]_:|()-]{0,6})?(?:(epoch|step|iter|iteration|round)[\s:=[#]{0,4}(\d{1,9})[\s\]:|,-]{0,6})?$/i;

/**
 * Recognize a line that is one dictionary of numbers, such as `{'loss': 0.3, 'learning_rate': 5e-05, 'epoch': 1.0}` of
 * Hugging Face's Trainer. Its last entries print what the run took.
 */
export function dictLine(text: string): FoundLine | undefined {
  const at = text.indexOf('{');
  if (at < 0 || !text.trimEnd().endsWith('}')) return undefined;
  const before = at === 0 ? [''] : withoutPrefix(text.slice(0, at));
  const matched = before.map((line) => head.exec(line)).find((one) => one !== null);
  if (matched === undefined || matched === null) return undefined;
  const [, data = '', kind = '', digits] = matched;
  const numbers = numbersOf(text.slice(at + 1, text.lastIndexOf('}')).trim());
  if (numbers === undefined) return undefined;
  const own = steps.map((name) => numbers.get(name)).find((one) => one !== undefined);
  const step = own ?? (digits === undefined ? undefined : Number(digits));
  const values = [...numbers].filter(([name]) => !steps.includes(name) && !ofRun.test(name));
  // A dictionary without a step is a dump of settings, unless all of it are metrics.
  const metrics = values.filter(([name]) => isMetricName(name));
  if (metrics.length === 0 || (step === undefined && metrics.length < values.length)) return undefined;
  if (step === undefined && metrics.some(([, value]) => Number.isInteger(value))) return undefined;
  const epoch = numbers.get('epoch') ?? (kind.toLowerCase() === 'epoch' ? Number(digits) : undefined);
  const prefix = data.toLowerCase().startsWith('train') ? '' : data.toLowerCase();
  const named = values.map(([name, value]): [string, number] => [
    prefix === '' || isQualifier(name.split(/[_/.]/)[0] ?? '') ? name : `${prefix}_${name}`,
    value,
  ]);
  return { step: step ?? null, values: named, ...(epoch !== undefined && { epoch }) };
}

function numbersOf(inner: string): Map<string, number> | undefined {
  const numbers = new Map<string, number>();
  for (let at = 0; at < inner.length; ) {
    entry.lastIndex = at;
    const match = entry.exec(inner);
    if (match === null) return undefined;
    at = entry.lastIndex;
    const value = printedNumber(match[4] ?? match[5] ?? match[6] ?? '');
    if (value !== undefined) numbers.set(match[2] ?? '', value);
  }
  return numbers;
}

/** What a run took, of Hugging Face's Trainer and of fairseq. */
const ofRun =
  /(?:_runtime|_per_second|_flos|^total_flos|_samples|_time|(?:^|_)(?:num_updates|wps|ups|wpb|bsz|gnorm|clip|wall|gb_free|loss_scale))$/;
