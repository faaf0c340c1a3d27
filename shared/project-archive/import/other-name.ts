/** The name that something gets where its own is taken: with the end of the id of the import. */
export function otherName(name: string, import_id: string, maxLength: number): string {
  const end = `-${import_id.slice(-8)}`;
  return `${name.slice(0, maxLength - end.length).toWellFormed()}${end}`;
}
