/** Channels that can only be removed together, and how many of them are left. */
export interface PrunedGroup {
  /** The layers that make them. */
  layers: string[];
  channels_before: number;
  channels_after: number;
}

/** What a pruning came to. Parameters that were removed or zeroed by it are not counted as being left. */
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
