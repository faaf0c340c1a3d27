/**
 * Act on things in their order, on at most `lanes` of them at the same time. Return the results in that order. The first
 * error rejects; lanes that still work finish what they have begun.
 *
 * @example const records = await inLanes(ids, 8, (id) => requireExperiment(tables, project_id, id));
 */
export async function inLanes<T, R>(
  things: Iterable<T>,
  lanes: number,
  act: (thing: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const left = [...things].entries();
  const lane = async (): Promise<void> => {
    for (const [index, thing] of left) results[index] = await act(thing, index);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}
