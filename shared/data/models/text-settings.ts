import * as z from 'zod';

/** How a model answers texts. Its labels stay in `config.json`: there may be many. */
export const TextSettings = z.object({
  /** A vector, a class, or a class of each token. */
  task: z.enum(['embedding', 'classification', 'tokens']),
  /** Tokens of a text that the model reads. Longer texts are cut. */
  max_tokens: z.number().int(),
  /** Output of the model that has the answer. */
  output: z.string(),
  /** How the vectors of tokens become one. Null if the output has one for each text. */
  pooling: z.enum(['mean', 'cls', 'max', 'mean_sqrt_len_tokens', 'weightedmean', 'lasttoken']).nullable(),
  normalize: z.boolean(),
  activation: z.enum(['softmax', 'sigmoid', 'none']),
  /** Classes of an answer, or numbers of a vector. Null if the model does not state it. */
  width: z.number().int().nullable(),
  /** What the model expects before each text. */
  prompt: z.string(),
  lowercase: z.boolean(),
  /** Token that fills short texts. */
  padding: z.object({ token: z.string().nullable(), id: z.number().int() }),
});
export type TextSettings = z.infer<typeof TextSettings>;
