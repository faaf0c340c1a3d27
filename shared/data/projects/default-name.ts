/** Return the default name of an experiment: the name of its configuration, and its number in the project. */
export function defaultName(config_id: string | null, number?: number): string {
  const stem = config_id === null ? 'experiment' : config_id.replace(/\.[^.]*$/, '');
  return number === undefined ? stem : `${stem}-${number}`;
}
