import * as z from 'zod';
import { tryParseJson } from '../../core/text/try-parse-json.ts';

/** A text that becomes part of a record, or of each answer. */
const Label = z.union([z.string().max(1_000), z.number(), z.boolean()]).transform(String);

/** Models read tokens as numbers of 32 bits, some as 64. */
const mostTokenId = 2 ** 31 - 1;

/** `config.json` of a model, as far as it says how the model is asked. */
export const ModelConfig = z.object({
  architectures: z.array(z.string()).nullish(),
  id2label: z.union([z.record(z.string(), Label), z.array(Label)]).nullish(),
  problem_type: z.string().nullish(),
  pad_token_id: z.number().int().min(0).max(mostTokenId).nullish(),
  max_position_embeddings: z.number().int().min(-1).nullish(),
  model_type: z.string().nullish(),
  sentence_transformers: z.object({ activation_fn: z.string().nullish() }).nullish(),
  sbert_ce_default_activation_function: z.string().nullish(),
});
export type ModelConfig = z.infer<typeof ModelConfig>;

/** Names of the classes of a model, by its `config.json`. */
export function labelsOf(configText: string | undefined): readonly string[] {
  const config = ModelConfig.safeParse(tryParseJson(configText ?? ''));
  const labels: string[] = [];
  for (const [index, label] of Object.entries(config.data?.id2label ?? {}))
    if (/^\d{1,6}$/.test(index)) labels[Number(index)] = label;
  return labels;
}

/** Return how the logits of a model become scores. @param stated by another file */
export function activationOf(
  { problem_type, sentence_transformers, sbert_ce_default_activation_function }: ModelConfig,
  classes: number,
  stated?: string | null,
): 'softmax' | 'sigmoid' | 'none' {
  // Cross-encoders state it in one file or the other, by the version of sentence-transformers that wrote them.
  const named = stated ?? sentence_transformers?.activation_fn ?? sbert_ce_default_activation_function;
  if (named?.endsWith('.Identity')) return 'none';
  if (named?.endsWith('.Sigmoid')) return 'sigmoid';
  if (problem_type === 'regression') return 'none';
  return problem_type === 'multi_label_classification' || classes === 1 ? 'sigmoid' : 'softmax';
}
