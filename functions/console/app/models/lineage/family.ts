/** Fields of a compression that relate it to models. */
export interface Kin {
  strategy_id: string;
  label: string;
  model_name: string;
  model_digest: string;
  created_at: string;
  registered: boolean | null;
  result_name: string | null;
  result: readonly { sha256: string }[];
}

/**
 * A compression in the family of a model: applied to the model itself, or to a result that was registered as a model.
 */
export type Relative<S extends Kin> = S & {
  /** Applied strategies in order, such as `structured_l2 ÷2, static_minmax`. */
  path: string;
  /** Whether it was applied to the model itself. */
  isOwn: boolean;
  /** Ids of the applied strategies in order, its own last. */
  chain: readonly string[];
};

/**
 * Return whether a compression was applied to the result of another. A model's digest is its file's digest. With
 * external data it is a list's digest, so the files cannot confirm it.
 */
const isResultOf = (child: Kin, { result, result_name, registered, created_at }: Kin): boolean =>
  registered === true &&
  child.model_name === result_name &&
  child.created_at > created_at &&
  (result.length !== 1 || result[0]?.sha256 === child.model_digest);

/**
 * Return all compressions of a model, including those of its registered results, in order of their start. A
 * compression's ancestors always started earlier.
 */
export function familyOf<S extends Kin>(all: readonly S[], model_name: string): Relative<S>[] {
  const inOrder = [...all].sort((a, b) => a.created_at.localeCompare(b.created_at));
  const family: Relative<S>[] = [];
  for (const compression of inOrder) {
    if (compression.model_name === model_name) {
      family.push({ ...compression, path: compression.label, isOwn: true, chain: [compression.strategy_id] });
      continue;
    }
    const parent = family.find((one) => isResultOf(compression, one));
    if (parent === undefined) continue;
    const path = `${parent.path}, ${compression.label}`;
    family.push({ ...compression, path, isOwn: false, chain: [...parent.chain, compression.strategy_id] });
  }
  return family;
}

/** Return a measure relative to the model itself: a receipt relates a result to what was compressed, perhaps a result. */
export function ratioToModel(
  { chain }: Pick<Relative<Kin>, 'chain'>,
  ratioOf: (strategy_id: string) => number | undefined,
): number | undefined {
  const ratio = chain.reduce((product, id) => product * (ratioOf(id) ?? Number.NaN), 1);
  return Number.isNaN(ratio) ? undefined : ratio;
}
