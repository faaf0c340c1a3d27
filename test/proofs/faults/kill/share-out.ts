/** Works off a list that may grow meanwhile, in as many lanes at once as there are. */
export async function shareOut<L, T>(
  lanes: readonly L[],
  list: T[],
  work: (lane: L, one: T) => Promise<void>,
): Promise<void> {
  await Promise.all(
    lanes.map(async (lane) => {
      for (let one = list.shift(); one !== undefined; one = list.shift()) await work(lane, one);
    }),
  );
}
