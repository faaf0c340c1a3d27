import * as z from 'zod';
import { tryParseJson } from '../../core/text/try-parse-json.ts';
import type { PreprocessingName } from '../../data/models/preprocessing-names.ts';
import type { ServedVersion } from '../../data/models/serving.ts';
import type { TextSettings } from '../../data/models/text-settings.ts';

/** Contents of the files of a model beside `tokenizer.json`. */
type SettingsFiles = ReadonlyMap<PreprocessingName, string>;

type Tensors = Pick<ServedVersion, 'inputs' | 'outputs'>;

/** How a model answers texts, or why it does not. */
type ReadSettings = { settings: TextSettings; fault: null } | { settings: null; fault: string };

/**
 * Read from a model's own files how it answers texts: its task, pooling, normalization and length. They come from strangers, so
 * each is checked, and what this service cannot do is a fault: no answer is better than another model's.
 */
export function readTextSettings(files: SettingsFiles, tensors: Tensors): ReadSettings {
  const faults: string[] = [];
  const read = <T>(name: PreprocessingName, schema: z.ZodType<T>, standIn: T): T => {
    const text = files.get(name);
    if (text === undefined) return standIn;
    const value = tryParseJson(text);
    if (value === undefined) {
      faults.push(`${name} is not JSON, in which NaN and Infinity are no numbers`);
      return standIn;
    }
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const places = parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim());
    faults.push(`${name}: ${places.slice(0, 3).join('; ')}`);
    return standIn;
  };
  const config = read('config.json', Config, {});
  const tokenizer = read('tokenizer_config.json', TokenizerConfig, {});
  const modules = read('modules.json', Modules, undefined);
  const pooling = read('1_Pooling/config.json', Pooling, undefined);
  const sentence = read('sentence_bert_config.json', Sentence, {});
  const prompts = read('config_sentence_transformers.json', Prompts, {});

  for (const { name, type } of tensors.inputs) {
    if (!tokenInputs.includes(name))
      faults.push(`the model has the input ${JSON.stringify(name)}, which a tokenizer cannot give`);
    else if (type !== 'int64' && type !== 'int32')
      faults.push(`the input ${JSON.stringify(name)} is of type ${type}, not int64`);
  }
  if (!tensors.inputs.some(({ name }) => name === 'input_ids'))
    faults.push('the model has no input "input_ids"');
  for (const { type } of modules ?? []) {
    const kind = type.split('.').at(-1) ?? '';
    if (!['Transformer', 'Pooling', 'Normalize'].includes(kind))
      faults.push(`modules.json has a ${JSON.stringify(kind)}, which is not part of the ONNX file`);
  }
  const output = chooseOutput(config, tensors);
  if (output === undefined) {
    const names = tensors.outputs
      .map(({ name, shape }) => `${name} [${shape?.join(', ') ?? '?'}]`)
      .join(', ');
    faults.push(`none of its outputs is a vector or classes of texts or tokens: ${names}`);
  }
  const isPooled = output?.task === 'embedding' && output.rank === 3;
  const mode = isPooled ? poolingOf(pooling) : null;
  const path = isPooled ? modules?.find(({ type }) => type.endsWith('.Pooling'))?.path : undefined;
  if (path !== undefined && (path !== '1_Pooling' || pooling === undefined))
    faults.push(
      `modules.json has a pooling in ${JSON.stringify(path)}, which is not among the files of the model as 1_Pooling/config.json`,
    );
  if (mode === undefined)
    faults.push('1_Pooling/config.json joins several ways of pooling, which is not supported');
  if (faults.length > 0 || output === undefined || mode === undefined)
    return { settings: null, fault: faults.join('; ').slice(0, maxFault).toWellFormed() };

  const labels = Object.keys(config.id2label ?? {}).length;
  return {
    fault: null,
    settings: {
      task: output.task,
      max_tokens: maxTokens(config, tokenizer, sentence),
      output: output.name,
      pooling: mode,
      normalize: (modules ?? []).some(({ type }) => type.endsWith('.Normalize')),
      activation: activationOf(config, output.width ?? labels, prompts.activation_fn),
      width: output.width ?? (output.task === 'embedding' || labels === 0 ? null : labels),
      prompt: promptOf(prompts),
      lowercase: sentence.do_lower_case ?? false,
      padding: { token: textOf(tokenizer.pad_token), id: config.pad_token_id ?? 0 },
    },
  };
}

/** Characters of a fault. A record has little room, and the names in it are a stranger's. */
const maxFault = 1_000;

/** The text before each text. Its name may be that of a member that each object has. */
const promptOf = ({ prompts, default_prompt_name: name }: z.infer<typeof Prompts>): string =>
  Object.entries(prompts ?? {}).find(([one]) => one === name)?.[1] ?? '';

/** Names of the classes of a model, by its `config.json`. */
export function labelsOf(configText: string | undefined): readonly string[] {
  const config = Config.safeParse(tryParseJson(configText ?? ''));
  const labels: string[] = [];
  for (const [index, label] of Object.entries(config.data?.id2label ?? {}))
    if (/^\d{1,6}$/.test(index)) labels[Number(index)] = label;
  return labels;
}

const whole = z.number().int().min(0);
/** A text that becomes part of a record, or of each answer. */
const short = z.string().max(1_000);
const Token = z.union([short, z.object({ content: short })]).nullish();
const Label = z.union([short, z.number(), z.boolean()]).transform(String);

const Config = z.object({
  architectures: z.array(z.string()).nullish(),
  id2label: z.union([z.record(z.string(), Label), z.array(Label)]).nullish(),
  problem_type: z.string().nullish(),
  pad_token_id: whole.nullish(),
  max_position_embeddings: z.number().int().min(-1).nullish(),
  model_type: z.string().nullish(),
  sentence_transformers: z.object({ activation_fn: z.string().nullish() }).nullish(),
  sbert_ce_default_activation_function: z.string().nullish(),
});
type Config = z.infer<typeof Config>;

const TokenizerConfig = z.object({ model_max_length: z.number().positive().nullish(), pad_token: Token });
const Modules = z.array(z.object({ type: z.string(), path: z.string().optional() })).optional();
const Pooling = z.record(z.string(), z.unknown()).optional();
const Sentence = z.object({ max_seq_length: whole.nullish(), do_lower_case: z.boolean().nullish() });
const Prompts = z.object({
  prompts: z.record(z.string(), z.string().max(10_000)).nullish(),
  default_prompt_name: z.string().nullish(),
  activation_fn: z.string().nullish(),
});

const textOf = (token: z.infer<typeof Token>): string | null =>
  typeof token === 'string' ? token : (token?.content ?? null);

/** Inputs of which a tokenizer says the values. */
const tokenInputs = ['input_ids', 'attention_mask', 'token_type_ids', 'position_ids'];

interface Found {
  task: TextSettings['task'];
  name: string;
  rank: number;
  width: number | null;
}

/** Outputs with a vector for each text, as exporters name them. */
const vectorNames = ['sentence_embedding', 'text_embeds', 'embedding', 'pooled_embedding'];
const tokenVectorNames = ['last_hidden_state', 'token_embeddings', 'hidden_states'];

function chooseOutput({ architectures }: Config, { outputs }: Tensors): Found | undefined {
  const architecture = architectures?.[0] ?? '';
  const ranked = outputs.flatMap(({ name, type, shape }) => {
    const width = shape?.at(-1);
    if (shape === null || !type.startsWith('float')) return [];
    return [{ name, rank: shape.length, width: typeof width === 'number' ? width : null }];
  });
  const named = (names: readonly string[], rank: number) =>
    ranked.find((output) => output.rank === rank && names.includes(output.name));
  const logits = ranked.find(({ name }) => name === 'logits');
  if (logits?.rank === 2) return { task: 'classification', ...logits };
  if (logits?.rank === 3 && architecture.endsWith('ForTokenClassification'))
    return { task: 'tokens', ...logits };
  const vector = named(vectorNames, 2) ?? named(tokenVectorNames, 3);
  if (vector !== undefined) return { task: 'embedding', ...vector };
  // A model with one output needs no name for it.
  const [only, ...others] = ranked;
  if (only === undefined || others.length > 0 || logits !== undefined) return undefined;
  if (architecture.endsWith('ForSequenceClassification') && only.rank === 2)
    return { task: 'classification', ...only };
  if (architecture.endsWith('ForTokenClassification') && only.rank === 3) return { task: 'tokens', ...only };
  return only.rank === 2 || only.rank === 3 ? { task: 'embedding', ...only } : undefined;
}

const poolingModes = ['mean', 'cls', 'max', 'mean_sqrt_len_tokens', 'weightedmean', 'lasttoken'] as const;

/** Return the mode; undefined if there are several, or one that is unknown. Models without the file take the mean. */
function poolingOf(pooling: z.infer<typeof Pooling>): TextSettings['pooling'] | undefined {
  if (pooling === undefined) return 'mean';
  const stated = pooling['pooling_mode'];
  const names = { cls: 'cls_token', mean: 'mean_tokens', max: 'max_tokens' } as const;
  const chosen = poolingModes.filter((mode) => {
    const key = `pooling_mode_${mode in names ? names[mode as keyof typeof names] : mode}`;
    return stated === mode || pooling[key] === true;
  });
  const [mode, ...others] = new Set(chosen);
  return others.length > 0 || pooling['include_prompt'] === false ? undefined : mode;
}

function activationOf(
  { problem_type, sentence_transformers, sbert_ce_default_activation_function }: Config,
  classes: number,
  stated: string | null | undefined,
): TextSettings['activation'] {
  // Cross-encoders state it in one file or the other, by the version of sentence-transformers that wrote them.
  const named = stated ?? sentence_transformers?.activation_fn ?? sbert_ce_default_activation_function;
  if (named?.endsWith('.Identity')) return 'none';
  if (named?.endsWith('.Sigmoid')) return 'sigmoid';
  if (problem_type === 'regression') return 'none';
  return problem_type === 'multi_label_classification' || classes === 1 ? 'sigmoid' : 'softmax';
}

/** Attention takes memory by the square of the length. */
const mostTokens = 2_048;

/** Positions of RoBERTa and its kin begin behind the id of the padding. */
const offsetModels = [
  'roberta',
  'xlm-roberta',
  'camembert',
  'mpnet',
  'longformer',
  'xlm-roberta-xl',
  'data2vec-text',
];

function maxTokens(
  { max_position_embeddings, model_type, pad_token_id }: Config,
  { model_max_length }: z.infer<typeof TokenizerConfig>,
  { max_seq_length }: z.infer<typeof Sentence>,
): number {
  const offset = offsetModels.includes(model_type ?? '') ? (pad_token_id ?? 1) + 1 : 0;
  const positions =
    (max_position_embeddings ?? 0) > offset ? (max_position_embeddings ?? 0) - offset : undefined;
  const stated = [max_seq_length, model_max_length, positions].filter(
    (length) => typeof length === 'number' && length > 0,
  );
  const least = stated.length === 0 ? 512 : Math.min(...stated.map(Number));
  return Math.max(1, Math.min(mostTokens, Math.floor(least)));
}
