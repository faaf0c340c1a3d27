/** Channels that can only be removed together, and the number of those that remain. */
export interface PrunedGroup {
  /** Layers that produce the channels. */
  layers: string[];
  channels_before: number;
  channels_after: number;
}

/** Result of a pruning. Parameters that it removed or zeroed do not count as left. */
export interface PruningOutcome {
  strategy: string;
  /** Compression in the request. */
  compression: number;
  /** Prunable parameters: those of the weights that may be zeroed, or those in prunable groups. */
  prunable_before: number;
  prunable_after: number;
  /** `prunable_before / prunable_after`: at least `compression`. */
  reached: number;
  /** Elements of all floating-point constants of the model. */
  model_before: number;
  model_after: number;
  model_ratio: number;
  /** Groups with removed channels. Empty if the strategy removes no channels. */
  groups: PrunedGroup[];
}
