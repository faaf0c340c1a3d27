/** What a request saw or did: the state afterwards, or undefined where it cannot have happened in `state`. */
export interface Apply<S> {
  (state: S): S | undefined;
  /** Never changes the state, whatever it is. */
  onlyLooks?: true;
}

/** A step that only looks. */
export const looking = <S>(fits: (state: S) => boolean): Apply<S> =>
  Object.assign((state: S) => (fits(state) ? state : undefined), { onlyLooks: true as const });

/** One step of a request. It took effect at some moment between the request and its answer. */
export interface Step<S> {
  what: string;
  /** Moments of the request and of its answer, on one clock. */
  from: number;
  to: number;
  apply: Apply<S>;
  /** Steps of the same request that come first. */
  after: readonly Step<S>[];
}

export interface Verdict<S> {
  isLinear: boolean;
  /** The longest order that was found. */
  order: readonly Step<S>[];
  /** The steps that could have come next, and none of which fits the state then. */
  stuck: readonly Step<S>[];
  state: S;
}

/** The same text for equal states, whatever the order in which their members were made. */
function textOf(state: unknown): string {
  return JSON.stringify(state, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
}

/**
 * Looks for an order of all steps that a sequential service could have had: each step between its request and its
 * answer, and each fitting the state that those before it leave (Wing and Gong's search, with Lowe's memory of states
 * that led nowhere). A step that only looks is taken at once where it fits, since nothing is lost by that.
 */
export function linearize<S>(initial: S, given: readonly Step<S>[]): Verdict<S> {
  const steps = given.toSorted((one, other) => one.from - other.from);
  const done = steps.map(() => false);
  const doneSteps = new Set<Step<S>>();
  const order: number[] = [];
  const seen = new Set<string>();
  let longest: Verdict<S> = { isLinear: false, order: [], stuck: [], state: initial };

  const take = (index: number, step: Step<S>) => {
    done[index] = true;
    doneSteps.add(step);
    order.push(index);
  };
  const untake = (length: number) => {
    for (const index of order.splice(length)) {
      done[index] = false;
      const step = steps[index];
      if (step !== undefined) doneSteps.delete(step);
    }
  };
  /** Steps before whose request no other remaining step had its answer. */
  const candidates = (): [number, Step<S>][] => {
    let earliest = Number.POSITIVE_INFINITY;
    const found: [number, Step<S>][] = [];
    for (const [index, step] of steps.entries()) {
      if (step.from > earliest) break;
      if (done[index]) continue;
      earliest = Math.min(earliest, step.to);
      found.push([index, step]);
    }
    return found.filter(([, { from, after }]) => from < earliest && after.every((one) => doneSteps.has(one)));
  };

  const search = (state: S): boolean => {
    const begun = order.length;
    // Looks first.
    let open = candidates();
    for (let looked = true; looked; ) {
      looked = false;
      for (const [index, step] of open) {
        if (step.apply.onlyLooks !== true || step.apply(state) === undefined) continue;
        take(index, step);
        looked = true;
      }
      if (looked) open = candidates();
    }
    if (order.length >= longest.order.length) {
      longest = {
        isLinear: order.length === steps.length,
        order: order.flatMap((index) => steps[index] ?? []),
        stuck: open.map(([, step]) => step),
        state,
      };
    }
    if (longest.isLinear) return true;
    const memory = `${done.map((one) => (one ? '1' : '0')).join('')}${textOf(state)}`;
    if (!seen.has(memory)) {
      seen.add(memory);
      for (const [index, step] of open) {
        const next = step.apply(state);
        if (next === undefined) continue;
        const length = order.length;
        take(index, step);
        if (search(next)) return true;
        untake(length);
      }
    }
    untake(begun);
    return false;
  };
  search(initial);
  return longest;
}
