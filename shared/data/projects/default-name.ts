/** The name of an experiment that was given none: of its configuration, and which one of its project it is. */
export function defaultName(config_id: string | null, number?: number): string {
  const stem = config_id === null ? 'experiment' : config_id.replace(/\.[^.]*$/, '');
  return number === undefined ? stem : `${stem}-${number}`;
}
