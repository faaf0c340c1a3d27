import { fault } from './project-archive-error.ts';

/**
 * The lines of bytes that stream in, without their ends; each has one.
 * @throws ProjectArchiveError for a line of more than `most` bytes, and for one without an end
 */
export async function* readLines(bytes: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<string> {
  let rest = Buffer.alloc(0);
  for await (const chunk of bytes) {
    const all = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let end = all.indexOf(10, from); end >= 0; end = all.indexOf(10, from)) {
      yield all.toString('utf8', from, end);
      from = end + 1;
    }
    rest = all.subarray(from);
    if (rest.length > most) throw fault(`a line has more than ${most} bytes`);
  }
  if (rest.length > 0) throw fault('a list ends in the middle of a line');
}
