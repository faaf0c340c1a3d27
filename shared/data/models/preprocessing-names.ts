const settingsBytes = 4 * 2 ** 20;

/** Bytes of the largest file of each name. A vocabulary of 250,000 pieces has 17 MB, one of 256,000 with merges 33 MB. */
const largest = {
  'tokenizer.json': 64 * 2 ** 20,
  'tokenizer_config.json': settingsBytes,
  'preprocessor_config.json': settingsBytes,
  'config.json': settingsBytes,
  'modules.json': settingsBytes,
  'sentence_bert_config.json': settingsBytes,
  'config_sentence_transformers.json': settingsBytes,
  '1_Pooling/config.json': settingsBytes,
} as const;

export type PreprocessingName = keyof typeof largest;

/** Files of a model's folder that say how texts and pictures become its tensors, and its outputs vectors or labels. */
export const preprocessingNames = Object.keys(largest) as PreprocessingName[];

/** Files without which a model takes neither texts nor pictures. */
export const mainPreprocessing = [
  'tokenizer.json',
  'preprocessor_config.json',
] as const satisfies PreprocessingName[];

export const isPreprocessing = (name: string): name is PreprocessingName => Object.hasOwn(largest, name);

export const largestPreprocessing = (name: PreprocessingName): number => largest[name];
