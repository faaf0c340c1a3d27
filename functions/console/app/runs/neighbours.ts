let shown: { project_id: string; ids: readonly string[] } = { project_id: '', ids: [] };

/** Note the experiments of a project in the order in which its table shows them. */
export function noteOrder(project_id: string, ids: readonly string[]): void {
  shown = { project_id, ids };
}

/** Return the experiments before and after one in the order that was shown last; none if it was not among them. */
export function neighboursOf(
  project_id: string,
  experiment_id: string,
): { previous: string | undefined; next: string | undefined } | undefined {
  const at = shown.project_id === project_id ? shown.ids.indexOf(experiment_id) : -1;
  return at < 0 ? undefined : { previous: shown.ids[at - 1], next: shown.ids[at + 1] };
}
