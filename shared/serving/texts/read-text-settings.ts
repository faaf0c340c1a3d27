import * as z from 'zod';
import type { TextSettings } from '../../data/models/text-settings.ts';
import { activationOf, ModelConfig as Config } from '../protocol/model-config.ts';
import {
  type ModelTensors,
  namesOfOutputs,
  type ReadSettings,
  type SettingsFiles,
  SettingsReader,
} from '../protocol/settings-files.ts';

/**
 * Read from a model's own files how it answers texts: its task, pooling, normalization and length. They come from strangers, so
 * each is checked, and what this service cannot do is a fault: no answer is better than another model's.
 */
export function readTextSettings(files: SettingsFiles, tensors: ModelTensors): ReadSettings<TextSettings> {
  const reader = new SettingsReader(files);
  const { faults } = reader;
  const config = reader.read('config.json', Config, {});
  const tokenizer = reader.read('tokenizer_config.json', TokenizerConfig, {});
  const modules = reader.read('modules.json', Modules, undefined);
  const pooling = reader.read('1_Pooling/config.json', Pooling, undefined);
  const sentence = reader.read('sentence_bert_config.json', Sentence, {});
  const prompts = reader.read('config_sentence_transformers.json', Prompts, {});

  for (const { name, type } of tensors.inputs) {
    if (!tokenInputs.includes(name))
      faults.push(`the model has the input ${JSON.stringify(name)}, which a tokenizer cannot give`);
    else if (type !== 'int64' && type !== 'int32')
      faults.push(`the input ${JSON.stringify(name)} is of type ${type}, not int64`);
  }
  if (!tensors.inputs.some(({ name }) => name === 'input_ids'))
    faults.push('the model has no input "input_ids"');
  const output = chooseOutput(config, tensors);
  // A graph with this output has all modules of the model inside, as exporters of sentence-transformers write it.
  const isWhole = output?.name === 'sentence_embedding' && output.rank === 2;
  // Dropout does nothing but in training.
  const known = ['Transformer', 'Pooling', 'Normalize', 'Dropout', ...(isWhole ? ['Dense'] : [])];
  for (const { type } of modules ?? []) {
    const kind = type.split('.').at(-1) ?? '';
    if (!known.includes(kind))
      faults.push(`modules.json has a ${JSON.stringify(kind)}, which is not part of the ONNX file`);
  }
  if (output === undefined)
    faults.push(`none of its outputs is a vector or classes of texts or tokens: ${namesOfOutputs(tensors)}`);
  const isPooled = output?.task === 'embedding' && output.rank === 3;
  const mode = isPooled ? poolingOf(pooling) : null;
  const path = isPooled ? modules?.find(({ type }) => type.endsWith('.Pooling'))?.path : undefined;
  if (path !== undefined && (path !== '1_Pooling' || pooling === undefined))
    faults.push(
      `modules.json has a pooling in ${JSON.stringify(path)}, which is not among the files of the model as 1_Pooling/config.json`,
    );
  if (mode === undefined)
    faults.push('1_Pooling/config.json joins several ways of pooling, which is not supported');
  if (faults.length > 0 || output === undefined || mode === undefined) return reader.fault;

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

/** The text before each text. Its name may be that of a member that each object has. */
const promptOf = ({ prompts, default_prompt_name: name }: z.infer<typeof Prompts>): string =>
  Object.entries(prompts ?? {}).find(([one]) => one === name)?.[1] ?? '';

const whole = z.number().int().min(0);
/** A text that becomes part of a record, or of each answer. */
const short = z.string().max(1_000);
const Token = z.union([short, z.object({ content: short })]).nullish();
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

function chooseOutput({ architectures }: Config, { outputs }: ModelTensors): Found | undefined {
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
