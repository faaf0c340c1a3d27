/** Facts of a strategy that do not depend on its parameters. */
export interface StrategyFacts {
  /** Its published description. */
  description: string;
  /** Whether it needs the ranges of activations, for which the model is run on a calibration set. */
  isCalibrated?: boolean;
  /** Whether it needs the statistics of the inputs of layers, for which the model is run, too. */
  usesStatistics?: boolean;
  /** Lowest version of ONNX's operator set that has the operators it writes. */
  minOpset?: number;
}

/** The strategies of a registry that use statistics of the inputs of layers. */
export type UsingStatistics<E> = {
  [S in keyof E]: E[S] extends { usesStatistics: true } ? S : never;
}[keyof E];

/** The names of the entries of a registry, in its order. */
export function namesOf<E extends object>(entries: E): readonly [keyof E & string, ...(keyof E & string)[]];
export function namesOf(entries: object): readonly string[] {
  return Object.keys(entries);
}
