/** Build a replacement for a name that is taken: append the end of the import's id. */
export function otherName(name: string, import_id: string, maxLength: number): string {
  const end = `-${import_id.slice(-8)}`;
  return `${name.slice(0, maxLength - end.length).toWellFormed()}${end}`;
}
