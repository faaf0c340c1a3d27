/** Ways to prune, by the names that requests give them. */
export const pruneStrategies = [
  'magnitude_global',
  'magnitude_local',
  'n_m_2_4',
  'structured_l1',
  'structured_l2',
  'random',
] as const;
export type PruneStrategy = (typeof pruneStrategies)[number];

/** Ways to quantize, likewise. */
export const quantizeStrategies = [
  'dynamic',
  'static_minmax',
  'static_percentile',
  'static_entropy',
  'weight_only',
  'float16',
] as const;
export type QuantizeStrategy = (typeof quantizeStrategies)[number];

/** Types that quantized values may have. */
export const quantTypes = ['int8', 'uint8', 'int4', 'uint4', 'float16'] as const;
export type QuantType = (typeof quantTypes)[number];
