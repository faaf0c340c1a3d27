/** Facts of a strategy that do not depend on its parameters. */
export interface StrategyFacts {
  /** Published description. */
  description: string;
  /**
   * Whether the strategy needs the ranges of activations. To measure them, the model runs on a calibration set.
   */
  isCalibrated?: boolean;
  /** Whether the strategy needs statistics of the inputs of layers. The model runs for these, too. */
  usesStatistics?: boolean;
  /** Lowest ONNX opset with the operators that the strategy writes. */
  minOpset?: number;
}

/** Strategies of a registry that use statistics of the inputs of layers. */
export type UsingStatistics<E> = {
  [S in keyof E]: E[S] extends { usesStatistics: true } ? S : never;
}[keyof E];

/** Return the names of a registry's entries in its order. */
export function namesOf<E extends object>(entries: E): readonly [keyof E & string, ...(keyof E & string)[]];
export function namesOf(entries: object): readonly string[] {
  return Object.keys(entries);
}
