/** What a strategy tells of where it belongs. */
export interface Kin {
  label: string;
  model_name: string;
  model_digest: string;
  created_at: string;
  registered: boolean | null;
  result_name: string | null;
  result: readonly { sha256: string }[];
}

/** A strategy in the family of a model: of the model itself, or of a result that was registered as a model. */
export type Relative<S extends Kin> = S & {
  /** What was done to the model, one after the other, such as `structured_l2 ÷2, static_minmax`. */
  path: string;
  /** Whether it was applied to the model itself. */
  isOwn: boolean;
};

/** The digest of a model is that of its file; with external data that of a list, which the files do not tell. */
const isResultOf = (child: Kin, { result, result_name, registered, created_at }: Kin): boolean =>
  registered === true &&
  child.model_name === result_name &&
  child.created_at > created_at &&
  (result.length !== 1 || result[0]?.sha256 === child.model_digest);

/**
 * Everything that was made of a model, also by way of results that were registered as models, in the order in which it
 * was begun: a later one changes nothing of those before it.
 */
export function familyOf<S extends Kin>(all: readonly S[], model_name: string): Relative<S>[] {
  const inOrder = [...all].sort((a, b) => a.created_at.localeCompare(b.created_at));
  const family: Relative<S>[] = [];
  for (const strategy of inOrder) {
    if (strategy.model_name === model_name) {
      family.push({ ...strategy, path: strategy.label, isOwn: true });
      continue;
    }
    const parent = family.find((one) => isResultOf(strategy, one));
    if (parent !== undefined)
      family.push({ ...strategy, path: `${parent.path}, ${strategy.label}`, isOwn: false });
  }
  return family;
}
