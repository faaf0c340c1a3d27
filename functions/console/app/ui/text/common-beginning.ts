/** Shorter beginnings stay: leaving them out saves no room. */
const leastLength = 6;

/** Return the words with which all names begin, up to the last separator. It is empty for one name, and for short words. */
export function commonBeginning([first = '', ...others]: readonly string[]): string {
  let length = others.length === 0 ? 0 : first.length;
  for (const name of others) {
    let same = 0;
    while (same < length && first[same] === name[same]) same += 1;
    length = same;
  }
  const words = /^.*[-_/ ]/s.exec(first.slice(0, length))?.[0] ?? '';
  return words.length < leastLength ? '' : words;
}
