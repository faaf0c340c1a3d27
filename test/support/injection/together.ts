/** Does something with each, so many at a time; the lane tells apart those that are done at once. */
export async function together<T>(
  all: readonly T[],
  lanes: number,
  work: (one: T, lane: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const run = async (lane: number): Promise<void> => {
    while (next < all.length) {
      const one = all[next];
      next += 1;
      if (one !== undefined) await work(one, lane);
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => run(lane)));
}
