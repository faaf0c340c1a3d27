/** Channels that can only be removed together, and how many of them are left. */
export interface PrunedGroup {
  /** The layers that make them. */
  layers: string[];
  channels_before: number;
  channels_after: number;
}

/** Result of a pruning. Parameters that it removed or zeroed do not count as left. */
export interface PruningOutcome {
  strategy: string;
  /** As it was asked for. */
  compression: number;
  /** Parameters that could be pruned: of the touchable weights, or those in prunable groups. */
  prunable_before: number;
  prunable_after: number;
  /** `prunable_before / prunable_after`: at least `compression`. */
  reached: number;
  /** Elements of all floating-point constants of the model. */
  model_before: number;
  model_after: number;
  model_ratio: number;
  /** Where whole channels were removed; empty otherwise. */
  groups: PrunedGroup[];
}
