/**
 * Yield the pages of a list, one after another. `read` gets where a page starts, undefined for the first.
 *
 * @example for await (const page of pagesOf((after) => listConfigs(records, project_id, { after }))) …
 */
export async function* pagesOf<P extends { next: string | undefined }>(
  read: (after: string | undefined) => Promise<P>,
): AsyncGenerator<P> {
  let after: string | undefined;
  do {
    const page = await read(after);
    yield page;
    after = page.next;
  } while (after !== undefined);
}
